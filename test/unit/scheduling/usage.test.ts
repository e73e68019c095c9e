import assert from 'node:assert/strict';
import { Usage } from '../../../src/infra/scheduling/virtual-time.ts';

const SLOW_MS = 100;

describe('The usage of an account', () => {
  let now: number;
  let use: Usage;
  beforeEach(() => {
    now = 1_000_000;
    use = new Usage({ slowMs: SLOW_MS, now: () => now });
  });
  const work = (account: string, ms: number) => {
    const begun = use.begin(account);
    now += ms;
    begun.end();
  };

  it('grows while its work runs, and is halved after thirty seconds', () => {
    const begun = use.begin('a');
    now += 40;
    assert.equal(use.of('a'), 40);
    begun.end();
    begun.end();
    assert.equal(use.of('a'), 40);
    now += 30_000;
    assert.equal(use.of('a'), 20);
    work('a', 10);
    assert.ok(Math.abs(use.of('a') - 30) < 0.01);
  });

  it('is halved after the configured half-life', () => {
    use = new Usage({ slowMs: SLOW_MS, halfLifeMs: 1000, now: () => now });
    work('a', 400);
    now += 2000;
    assert.equal(use.of('a'), 100);
  });

  it('makes it slow while a piece of its work takes too long, and for a minute after', () => {
    work('a', SLOW_MS);
    assert.equal(use.isSlow('a'), false);
    const begun = use.begin('a');
    now += SLOW_MS + 1;
    assert.equal(use.isSlow('a'), true);
    begun.end();
    now += 59_999;
    assert.equal(use.isSlow('a'), true);
    now += 1;
    assert.equal(use.isSlow('a'), false);
    assert.equal(use.isSlow('newcomer'), false);
  });

  it('makes it quick by its last finished piece of work', () => {
    assert.equal(use.isQuick('a'), false, 'a newcomer');
    const begun = use.begin('a');
    assert.equal(use.isQuick('a'), false);
    now += SLOW_MS;
    begun.end();
    assert.equal(use.isQuick('a'), true);
    work('a', SLOW_MS + 1);
    now += 60_000;
    assert.equal(use.isSlow('a'), false);
    assert.equal(use.isQuick('a'), false);
    work('a', 1);
    assert.equal(use.isQuick('a'), true);
  });

  it('orders accounts by a virtual time that decay does not change, and newcomers by their configured usage', () => {
    use = new Usage({ newcomerMs: 50, now: () => now });
    work('busy', 3000);
    work('quick', 5);
    const ordered = () =>
      ['busy', 'newcomer', 'quick'].sort((a, b) => use.virtualTimeOf(a, now) - use.virtualTimeOf(b, now));
    assert.deepEqual(ordered(), ['quick', 'newcomer', 'busy']);
    const before = use.virtualTimeOf('busy', now);
    now += 300_000;
    assert.deepEqual(
      ordered(),
      ['busy', 'newcomer', 'quick'].sort((a, b) => use.of(a) - use.of(b)),
    );
    assert.equal(use.virtualTimeOf('busy', now), before);
    const begun = use.begin('busy');
    now += 10;
    assert.ok(use.virtualTimeOf('busy', now) > before);
    begun.end();
  });

  it('is a fixed cost for each piece of work when configured, however long it takes', () => {
    use = new Usage({ costMs: 1000, now: () => now });
    const begun = use.begin('a');
    now += 30_000;
    begun.end();
    assert.equal(use.of('a'), 500);
    use.begin('a', 2).end();
    assert.equal(use.of('a'), 2500);
  });

  it('does not grow while a piece of work is paused, which does not make it slow', () => {
    const begun = use.begin('a');
    const other = use.begin('a');
    now += 40;
    begun.pause();
    begun.pause();
    assert.equal(use.isPaused('a'), false, 'the other one goes on');
    other.end();
    assert.equal(use.isPaused('a'), true);
    now += 10 * SLOW_MS;
    assert.ok(Math.abs(use.of('a') - 80) < 2);
    assert.equal(use.isSlow('a'), false);
    begun.resume();
    begun.resume();
    assert.equal(use.isPaused('a'), false);
    now += 10;
    assert.ok(Math.abs(use.of('a') - 90) < 2);
    begun.pause();
    now += 10 * SLOW_MS;
    begun.end();
    begun.resume();
    assert.equal(use.isQuick('a'), true);
    assert.equal(use.isPaused('nobody'), false);
  });

  it('begins at the usage of the accounts that are being served', () => {
    for (let n = 0; n < 10; n += 1) {
      use.arrive('resident');
      work('resident', 50);
    }
    const before = use.of('resident');
    use.arrive('newcomer');
    assert.ok(use.of('newcomer') > before - 51 && use.of('newcomer') < before);
    use.arrive('resident');
    assert.equal(use.of('resident'), before, 'it has more than that');
  });

  it('is not raised for an account that has waiting requests or work under way', () => {
    work('resident', 400);
    use.arrive('waiting');
    const working = use.begin('working');
    use.begin('resident').end();
    use.arrive('working');
    assert.equal(use.of('working'), 0);
    working.end();
    use.arrive('working');
    assert.equal(use.of('working'), 400);
    use.arrive('waiting');
    assert.equal(use.of('waiting'), 400);
  });

  it('begins at zero when no account has been served for long', () => {
    work('resident', 400);
    use.begin('resident').end();
    now += 3_600_000;
    use.arrive('newcomer');
    assert.equal(use.of('newcomer'), 0);
  });

  it('is forgotten in time, so that memory does not grow with the number of accounts', () => {
    work('slow', SLOW_MS + 1);
    for (let n = 0; n < 3000; n += 1) work(`account ${n}`, 1);
    now += 3_600_000;
    for (let n = 0; n < 3000; n += 1) use.begin(`other ${n}`).end();
    assert.equal(use.of('account 1'), 0);
    assert.equal(use.isSlow('slow'), false);
  });
});
