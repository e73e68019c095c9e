import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { WriteBehind, type WriteBehindOptions } from '../../../src/infra/async/write-behind.ts';

function recorder(options: WriteBehindOptions = {}) {
  const warnings: object[] = [];
  const written: number[][] = [];
  /** Writes that will fail, from now on. */
  const state = { failures: 0, tries: 0, running: 0, mostRunning: 0 };
  const write = async (batch: readonly number[]) => {
    state.tries += 1;
    state.running += 1;
    state.mostRunning = Math.max(state.mostRunning, state.running);
    await immediate();
    state.running -= 1;
    if (state.failures > 0) {
      state.failures -= 1;
      throw new Error('the database is away');
    }
    written.push([...batch]);
  };
  const behind = new WriteBehind<number>(write, { warn: (fields: object) => warnings.push(fields) }, options);
  return { behind, state, warnings, written };
}

/** Lets whatever waits for no timer come to its end. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await immediate();
}

describe('write-behind', () => {
  // Its delays pass only on demand.
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await settled();
  };

  it('writes entries of one delay together', async () => {
    const { behind, written } = recorder({ delayMs: 20 });
    for (const entry of [1, 2, 3]) behind.add(entry);
    await pass(19);
    assert.deepEqual(written, []);
    await pass(1);
    assert.deepEqual(written, [[1, 2, 3]]);
  });

  it('writes at once when a batch is full, and never a larger one', async () => {
    const { behind, written } = recorder({ delayMs: 60_000, flushAt: 2 });
    for (const entry of [1, 2, 3, 4, 5]) behind.add(entry);
    await settled();
    assert.deepEqual(written, [[1, 2], [3, 4], [5]]);
    behind.add(6);
    await settled();
    assert.equal(written.length, 3);
    await behind.flush();
    assert.deepEqual(written[3], [6]);
  });

  it('has written everything added before a flush when that resolves, also entries added during another flush', async () => {
    const { behind, state, written } = recorder({ delayMs: 60_000 });
    const flushes: Promise<void>[] = [];
    for (let entry = 0; entry < 1000; entry += 1) {
      behind.add(entry);
      if (entry % 7 === 0) flushes.push(behind.flush().then(() => assert.ok(written.flat().includes(entry))));
      if (entry % 100 === 0) await immediate();
    }
    await Promise.all([...flushes, behind.flush()]);
    assert.deepEqual(
      written.flat(),
      Array.from({ length: 1000 }, (_, i) => i),
    );
    assert.equal(state.mostRunning, 1);
  });

  it('retries entries that could not be written, in order, after the delay and not before', async () => {
    const { behind, state, warnings, written } = recorder({ delayMs: 40, flushAt: 3 });
    state.failures = 1;
    for (const entry of [1, 2, 3]) behind.add(entry);
    await settled();
    for (const entry of [4, 5, 6, 7]) behind.add(entry);
    await pass(39);
    assert.deepEqual([state.tries, warnings.length, written.length], [1, 1, 0]);
    await pass(1);
    assert.deepEqual(written, [[1, 2, 3], [4, 5, 6], [7]]);
  });

  it('resolves a flush that failed, and keeps its entries for the next', async () => {
    const { behind, state, written } = recorder({ delayMs: 60_000 });
    state.failures = 1;
    behind.add(1);
    await behind.flush();
    assert.deepEqual(written, []);
    await behind.flush();
    assert.deepEqual(written, [[1]]);
  });

  it('drops the oldest past its bound, also while nothing can be written', async () => {
    const { behind, state, written } = recorder({ delayMs: 60_000, maxWaiting: 3 });
    state.failures = 1;
    for (const entry of [1, 2, 3]) behind.add(entry);
    const failing = behind.flush();
    await Promise.resolve();
    assert.equal(state.running, 1);
    for (const entry of [4, 5]) behind.add(entry);
    await failing;
    await behind.flush();
    assert.deepEqual(written, [[3, 4, 5]]);
  });
});
