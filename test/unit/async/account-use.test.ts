import assert from 'node:assert/strict';
import { AccountUse, nextTurn } from '../../../src/async/account-use.ts';

const SLOW_MS = 100;

describe('what accounts have used', () => {
  let now: number;
  let use: AccountUse;
  beforeEach(() => {
    now = 1_000_000;
    use = new AccountUse({ slowMs: SLOW_MS, now: () => now });
  });
  const work = (account: string, ms: number) => {
    const begun = use.begin(account);
    now += ms;
    use.end(begun);
  };

  it('grows while their work goes on, and counts half after thirty seconds', () => {
    const begun = use.begin('a');
    now += 40;
    assert.equal(use.of('a'), 40);
    use.end(begun);
    use.end(begun);
    assert.equal(use.of('a'), 40);
    now += 30_000;
    assert.equal(use.of('a'), 20);
    work('a', 10);
    assert.ok(Math.abs(use.of('a') - 30) < 0.01);
  });

  it('counts half after as long as is said', () => {
    use = new AccountUse({ slowMs: SLOW_MS, halfLifeMs: 1000, now: () => now });
    work('a', 400);
    now += 2000;
    assert.equal(use.of('a'), 100);
  });

  it('makes an account slow while a piece of its work takes too long, and for a minute after it', () => {
    work('a', SLOW_MS);
    assert.equal(use.isSlow('a'), false);
    const begun = use.begin('a');
    now += SLOW_MS + 1;
    assert.equal(use.isSlow('a'), true);
    use.end(begun);
    now += 59_999;
    assert.equal(use.isSlow('a'), true);
    now += 1;
    assert.equal(use.isSlow('a'), false);
    assert.equal(use.isSlow('stranger'), false);
  });

  it('knows who is quick by the last piece of work that has ended', () => {
    assert.equal(use.isQuick('a'), false, 'a stranger');
    const begun = use.begin('a');
    assert.equal(use.isQuick('a'), false);
    now += SLOW_MS;
    use.end(begun);
    assert.equal(use.isQuick('a'), true);
    work('a', SLOW_MS + 1);
    now += 60_000;
    assert.equal(use.isSlow('a'), false);
    assert.equal(use.isQuick('a'), false);
    work('a', 1);
    assert.equal(use.isQuick('a'), true);
  });

  it('decides whose turn it is: who has used least, and of an account who came first', () => {
    work('busy', 3000);
    work('quick', 5);
    const waiting = ['busy', 'stranger', 'busy', 'quick', 'quick'].map((account, n) => ({ account, n }));
    const order: string[] = [];
    while (waiting.length > 0) {
      const next = nextTurn(waiting, use)!;
      order.push(`${next.account} ${next.n}`);
      waiting.splice(waiting.indexOf(next), 1);
    }
    assert.deepEqual(order, ['quick 3', 'quick 4', 'stranger 1', 'busy 0', 'busy 2']);
    assert.equal(
      nextTurn([{ account: 'busy' }], use, () => false),
      undefined,
    );
  });

  it('stands still while a piece of work waits for others, and does not make its account slow', () => {
    const begun = use.begin('a');
    const other = use.begin('a');
    now += 40;
    use.pause(begun);
    use.pause(begun);
    assert.equal(use.isHeldUp('a'), false, 'the other one goes on');
    use.end(other);
    assert.equal(use.isHeldUp('a'), true);
    now += 10 * SLOW_MS;
    assert.ok(Math.abs(use.of('a') - 80) < 2);
    assert.equal(use.isSlow('a'), false);
    use.resume(begun);
    use.resume(begun);
    assert.equal(use.isHeldUp('a'), false);
    now += 10;
    assert.ok(Math.abs(use.of('a') - 90) < 2);
    use.pause(begun);
    now += 10 * SLOW_MS;
    use.end(begun);
    use.resume(begun);
    assert.equal(use.isQuick('a'), true);
    assert.equal(use.isHeldUp('nobody'), false);
  });

  it('begins for an account that arrives where those are who are about', () => {
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

  it('gives nothing away of what an account has saved up that waits, or has work under way', () => {
    work('resident', 400);
    use.arrive('waiting');
    const working = use.begin('working');
    use.end(use.begin('resident'));
    use.arrive('waiting', [{ account: 'waiting' }]);
    use.arrive('working');
    assert.equal(use.of('working'), 0);
    use.end(working);
    use.arrive('working');
    assert.equal(use.of('working'), 400);
    use.arrive('waiting');
    assert.equal(use.of('waiting'), 400);
  });

  it('has those who arrive begin with nothing when nobody has been about for long', () => {
    work('resident', 400);
    use.end(use.begin('resident'));
    now += 3_600_000;
    use.arrive('newcomer');
    assert.equal(use.of('newcomer'), SLOW_MS, 'a stranger');
  });

  it('is forgotten in time, so that what is kept does not grow with the accounts', () => {
    work('slow', SLOW_MS + 1);
    for (let n = 0; n < 3000; n += 1) work(`account ${n}`, 1);
    now += 3_600_000;
    for (let n = 0; n < 3000; n += 1) use.end(use.begin(`other ${n}`));
    assert.equal(use.of('account 1'), SLOW_MS, 'a stranger again');
    assert.equal(use.isSlow('slow'), false);
  });
});
