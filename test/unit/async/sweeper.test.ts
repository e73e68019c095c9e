import assert from 'node:assert/strict';
import { pino } from 'pino';
import { ordinary, Sweeper } from '../../../src/infra/async/sweeper.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

const MINUTE_MS = 60_000;

describe('The pauses of sweeps', () => {
  let timers: ManualTimers;
  let sweeper: Sweeper;
  const runs = { own: 0, others: 0 };
  let found = 0;
  beforeEach(() => {
    timers = new ManualTimers();
    sweeper = new Sweeper(pino({ level: 'silent' }), undefined, timers);
    Object.assign(runs, { own: 0, others: 0 });
    found = 0;
    sweeper.start([
      ordinary(
        'own',
        1000,
        async () => {
          runs.own += 1;
          return found;
        },
        30_000,
      ),
      ordinary('others', 1000, async () => {
        runs.others += 1;
      }),
    ]);
  });
  afterEach(() => sweeper.stop());

  const countIn = async (ms: number) => {
    const before = { ...runs };
    await timers.pass(ms);
    return [runs.own - before.own, runs.others - before.others];
  };

  it('stay as they are while something happens', async () => {
    for (let second = 0; second < 60; second += 1) {
      sweeper.wake();
      await timers.pass(1000);
    }
    assert.deepEqual([runs.own, runs.others], [61, 61]);
  });

  it('double while nothing happens, up to that at rest, and only of sweeps that have one', async () => {
    await timers.pass(2 * MINUTE_MS);
    assert.deepEqual(await countIn(10 * MINUTE_MS), [20, 600]);
  });

  it('are the usual ones again as soon as something happens', async () => {
    await timers.pass(2 * MINUTE_MS);
    sweeper.wake();
    assert.deepEqual(await countIn(10_000), [10, 10]);
  });

  it('are the usual ones as long as a sweep itself finds something to do', async () => {
    await timers.pass(2 * MINUTE_MS);
    found = 1;
    await timers.pass(30_000);
    assert.deepEqual(await countIn(10_000), [10, 10]);
  });

  it('end with a stop', async () => {
    await sweeper.stop();
    assert.deepEqual(await countIn(MINUTE_MS), [0, 0]);
  });
});
