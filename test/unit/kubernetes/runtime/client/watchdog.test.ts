import assert from 'node:assert/strict';
import { Watchdog } from '../../../../../src/infra/kube/client/watchdog.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

function watched(silenceMs: number) {
  const timers = new ManualTimers();
  const barks: number[] = [];
  const watchdog = new Watchdog(timers, silenceMs, () => barks.push(timers.nowMs()));
  return { timers, barks, watchdog };
}

describe('a watchdog', () => {
  it('calls back once when nothing has arrived for too long', async () => {
    const { timers, barks } = watched(100);
    await timers.pass(99);
    assert.deepEqual(barks, []);
    await timers.pass(1000);
    assert.deepEqual(barks, [100]);
  });

  it('counts from the last activity', async () => {
    const { timers, barks, watchdog } = watched(100);
    for (let n = 0; n < 10; n += 1) {
      await timers.pass(99);
      watchdog.heard();
    }
    assert.deepEqual(barks, []);
    await timers.pass(1000);
    assert.deepEqual(barks, [990 + 100]);
  });

  it('is silent once it is stopped', async () => {
    const { timers, barks, watchdog } = watched(100);
    watchdog.stop();
    await timers.pass(1000);
    assert.deepEqual(barks, []);
  });
});
