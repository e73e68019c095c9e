import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { SharedLooks } from '../../../src/http/shared-looks.ts';

const PACE = { leastMs: 20, mostMs: 200 };

describe('shared looks', () => {
  let looks: SharedLooks<number>;
  let at: number;
  let looked: number;
  const look = async () => {
    looked += 1;
    return at;
  };

  beforeEach(() => {
    looks = new SharedLooks(PACE, (one, other) => one === other);
    [at, looked] = [0, 0];
    looks.join('thing', 'group');
  });

  /** Asks again and again, for so long. @returns how often it was looked. */
  async function ask(ms: number): Promise<number> {
    const before = looked;
    for (const end = performance.now() + ms; performance.now() < end; await sleep(1))
      await looks.see('thing', look);
    return looked - before;
  }

  it('hold for twice as long each time that nothing has changed, up to a bound', async () => {
    const count = await ask(1200);
    assert.ok(count >= 6 && count <= 10, `${count} looks`);
    const later = await ask(600);
    assert.ok(later >= 1 && later <= 4, `${later} looks`);
  });

  it('hold for the shortest time as long as it changes', async () => {
    await ask(600);
    const before = looked;
    for (const end = performance.now() + 600; performance.now() < end; await sleep(1)) {
      at = looked;
      await looks.see('thing', look);
    }
    assert.ok(looked - before > 10, `${looked - before} looks`);
  });

  it('are due soon once something has happened in its group, and when somebody joins', async () => {
    for (const stir of [() => looks.happened('group'), () => looks.join('thing', 'group')]) {
      await ask(600);
      await looks.see('thing', look);
      stir();
      await sleep(PACE.leastMs);
      const before = looked;
      await looks.see('thing', look);
      assert.equal(looked, before + 1);
    }
  });

  it('are due soon, too, when something happens while it is looked at', async () => {
    await ask(600);
    await sleep(PACE.mostMs);
    const gate = Promise.withResolvers<number>();
    const seen = looks.see('thing', () => gate.promise);
    looks.happened('group');
    gate.resolve(at);
    await seen;
    await sleep(PACE.leastMs);
    const before = looked;
    await looks.see('thing', look);
    assert.equal(looked, before + 1);
  });

  it('forget a thing and its group with the last who follows it', async () => {
    looks.leave('thing');
    looks.happened('group');
    for (let i = 0; i < 3; i += 1) await looks.see('thing', look);
    assert.equal(looked, 3);
  });
});
