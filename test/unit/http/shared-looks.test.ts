import assert from 'node:assert/strict';
import { systemTimers } from '../../../src/async/timers.ts';
import { SharedLooks } from '../../../src/http/shared-looks.ts';
import { HeldClock } from '../../support/held-clock.ts';

const PACE = { leastMs: 20, mostMs: 200 };

describe('shared looks', () => {
  let looks: SharedLooks<number>;
  let at: number;
  /** When it was looked, by the clock. */
  let looked: number[];
  let clock: HeldClock;
  const look = async () => {
    looked.push(clock.nowMs);
    return at;
  };

  beforeEach(() => {
    clock = new HeldClock();
    looks = new SharedLooks(PACE, (one, other) => one === other, systemTimers);
    [at, looked] = [0, []];
    looks.join('thing', 'group');
  });
  afterEach(() => clock.restore());

  /** Asks again and again, for so long. @param before done before each time. */
  async function ask(ms: number, before = () => {}): Promise<void> {
    for (const end = clock.nowMs + ms; clock.nowMs < end; clock.nowMs += 1) {
      before();
      await looks.see('thing', look);
    }
  }
  /** Between each look and the next. */
  const gaps = () => looked.slice(1).map((time, i) => time - looked[i]!);

  it('hold for twice as long each time that nothing has changed, up to a bound', async () => {
    await ask(1200);
    assert.deepEqual(gaps(), [20, 40, 80, 160, 200, 200, 200, 200]);
  });

  it('hold for the shortest time as long as it changes', async () => {
    await ask(600);
    looked = [];
    await ask(600, () => {
      at += 1;
    });
    assert.ok(looked.length > 10, `${looked.length} looks`);
    assert.deepEqual(new Set(gaps()), new Set([PACE.leastMs]));
  });

  it('are due soon once something has happened in its group, and when somebody joins', async () => {
    for (const stir of [() => looks.happened('group'), () => looks.join('thing', 'group')]) {
      await ask(600);
      const before = looked.length;
      await looks.see('thing', look);
      assert.equal(looked.length, before, 'not due by itself');
      stir();
      clock.nowMs += PACE.leastMs;
      await looks.see('thing', look);
      assert.equal(looked.length, before + 1);
    }
  });

  it('are due soon, too, when something happens while it is looked at', async () => {
    await ask(600);
    clock.nowMs += PACE.mostMs;
    const gate = Promise.withResolvers<number>();
    const seen = looks.see('thing', () => gate.promise);
    looks.happened('group');
    gate.resolve(at);
    await seen;
    clock.nowMs += PACE.leastMs;
    const before = looked.length;
    await looks.see('thing', look);
    assert.equal(looked.length, before + 1);
  });

  it('forget a thing and its group with the last who follows it', async () => {
    looks.leave('thing');
    looks.happened('group');
    for (let i = 0; i < 3; i += 1) await looks.see('thing', look);
    assert.equal(looked.length, 3);
  });
});
