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

  it('is forgotten in time, so that what is kept does not grow with the accounts', () => {
    work('slow', SLOW_MS + 1);
    for (let n = 0; n < 3000; n += 1) work(`account ${n}`, 1);
    now += 3_600_000;
    for (let n = 0; n < 3000; n += 1) use.end(use.begin(`other ${n}`));
    assert.equal(use.of('account 1'), SLOW_MS, 'a stranger again');
    assert.equal(use.isSlow('slow'), false);
  });
});
