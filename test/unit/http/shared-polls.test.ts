import assert from 'node:assert/strict';
import { SharedPolls } from '../../../src/http/request/shared-polls.ts';
import { systemTimers } from '../../../src/infra/async/timers.ts';
import { HeldClock } from '../../support/held-clock.ts';

const PACE = { leastMs: 20, mostMs: 200 };

describe('Shared polls', () => {
  let polls: SharedPolls<number>;
  let state: number;
  /** The times of the polls, by the clock. */
  let polled: number[];
  let clock: HeldClock;
  const check = async () => {
    polled.push(clock.nowMs);
    return state;
  };

  beforeEach(() => {
    clock = new HeldClock();
    polls = new SharedPolls(PACE, (one, other) => one === other, systemTimers);
    [state, polled] = [0, []];
    polls.join('resource', 'group');
  });
  afterEach(() => clock.restore());

  /** Requests the state every millisecond. @param ms for this time. @param before called before each request. */
  async function request(ms: number, before = () => {}): Promise<void> {
    for (const end = clock.nowMs + ms; clock.nowMs < end; clock.nowMs += 1) {
      before();
      await polls.poll('resource', check);
    }
  }
  /** The times between consecutive polls. */
  const gaps = () => polled.slice(1).map((time, i) => time - polled[i]!);

  it('double their interval each time that nothing has changed, up to a bound', async () => {
    await request(1200);
    assert.deepEqual(gaps(), [20, 40, 80, 160, 200, 200, 200, 200]);
  });

  it('have the shortest interval while the resource changes', async () => {
    await request(600);
    polled = [];
    await request(600, () => {
      state += 1;
    });
    assert.ok(polled.length > 10, `${polled.length} polls`);
    assert.deepEqual(new Set(gaps()), new Set([PACE.leastMs]));
  });

  it('are due soon once their group is notified, and when a follower joins', async () => {
    for (const hasten of [() => polls.notify('group'), () => polls.join('resource', 'group')]) {
      await request(600);
      const before = polled.length;
      await polls.poll('resource', check);
      assert.equal(polled.length, before, 'not due yet');
      hasten();
      clock.nowMs += PACE.leastMs;
      await polls.poll('resource', check);
      assert.equal(polled.length, before + 1);
    }
  });

  it('are due soon when their group is notified during a poll', async () => {
    await request(600);
    clock.nowMs += PACE.mostMs;
    const gate = Promise.withResolvers<number>();
    const pending = polls.poll('resource', () => gate.promise);
    polls.notify('group');
    gate.resolve(state);
    await pending;
    clock.nowMs += PACE.leastMs;
    const before = polled.length;
    await polls.poll('resource', check);
    assert.equal(polled.length, before + 1);
  });

  it('forget a resource and its group with its last follower', async () => {
    polls.leave('resource');
    polls.notify('group');
    for (let i = 0; i < 3; i += 1) await polls.poll('resource', check);
    assert.equal(polled.length, 3);
  });
});
