import assert from 'node:assert/strict';
import { CLOCK_SKEW_MS, FutureTimes } from '../../../src/infra/store/future-times.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { StillClock } from '../../support/still-clock.ts';

const DAY_MS = 86_400_000;
const LEASE_MS = 15_000;

describe('A time in a record', () => {
  let clock: StillClock;
  let timers: ManualTimers;
  let times: FutureTimes;
  let warnings: unknown[];
  beforeEach(() => {
    clock = new StillClock();
    timers = new ManualTimers();
    warnings = [];
    times = new FutureTimes(clock, { timers, logger: { warn: (...line: unknown[]) => warnings.push(line) } });
  });

  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);

  it('is measured by the clock as long as clocks may differ by so much', () => {
    for (const ms of [-DAY_MS, -1, 0, 1, CLOCK_SKEW_MS]) assert.equal(times.ageMs('a', inMs(ms)), 0 - ms);
    for (const ms of [-DAY_MS, -1, 0]) assert.equal(times.isOver('a', inMs(ms), LEASE_MS), true);
    for (const ms of [1, LEASE_MS, LEASE_MS + CLOCK_SKEW_MS])
      assert.equal(times.isOver('a', inMs(ms), LEASE_MS), false);
    assert.deepEqual(warnings, []);
  });

  it('is measured from when it was first seen if it is further in the future, which is logged once', async () => {
    const at = inMs(DAY_MS);
    const until = inMs(DAY_MS + LEASE_MS);
    assert.deepEqual([times.ageMs('a', at), times.isOver('b', until, LEASE_MS)], [0, false]);
    await timers.pass(LEASE_MS - 1);
    assert.deepEqual([times.ageMs('a', at), times.isOver('b', until, LEASE_MS)], [LEASE_MS - 1, false]);
    await timers.pass(1);
    assert.deepEqual([times.ageMs('a', at), times.isOver('b', until, LEASE_MS)], [LEASE_MS, true]);
    assert.equal(times.isOver('b', until, LEASE_MS, 2 * LEASE_MS), false);
    assert.equal(warnings.length, 2);
  });

  it('is measured anew when it changes, as a lease does that is renewed', async () => {
    for (let renewals = 0; renewals < 100; renewals += 1) {
      clock.pass(LEASE_MS / 3);
      await timers.pass(LEASE_MS / 3);
      assert.equal(times.isOver('a', inMs(DAY_MS + LEASE_MS), LEASE_MS), false);
    }
    assert.equal(warnings.length, 1);
  });

  it('is measured from when it was first seen after the clock of this machine has been set back', async () => {
    const until = inMs(LEASE_MS);
    clock.pass(-DAY_MS);
    assert.equal(times.isOver('a', until, LEASE_MS), false);
    await timers.pass(LEASE_MS);
    assert.equal(times.isOver('a', until, LEASE_MS), true);
  });
});
