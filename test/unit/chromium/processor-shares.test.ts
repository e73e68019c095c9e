import assert from 'node:assert/strict';
import { ProcessorShares } from '../../../src/render/chromium/process/processor-shares.ts';

const sample = (pid: number, processorMs: number, startTime = 1) => ({
  pid,
  processorMs,
  startTime,
  parent: 1,
  runnable: false,
  memoryBytes: 0,
});

describe('the shares of processors that processes use', () => {
  it('are what has been used since the last reading, of the same process', () => {
    let now = 1000;
    const shares = new ProcessorShares(() => now);
    const first = shares.read([sample(1, 500), sample(2, 0)]);
    assert.deepEqual(
      [...first.usedMs],
      [
        [1, 500],
        [2, 0],
      ],
    );
    assert.equal(first.ofCore.size, 0);
    now += 2000;
    const second = shares.read([sample(1, 4500), sample(2, 20, 7), sample(3, 40)]);
    assert.deepEqual(
      [...second.usedMs],
      [
        [1, 4000],
        [2, 20],
        [3, 40],
      ],
    );
    // The second is another process with the same pid.
    assert.deepEqual([...second.ofCore], [[1, 2]]);
    now += 1000;
    assert.deepEqual([...shares.read([sample(3, 40)]).ofCore], [[3, 0]]);
  });
});
