import assert from 'node:assert/strict';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import {
  type BlockBalance,
  countedFor,
  leftOf,
  standsAlike,
  withStanding,
} from '../../../src/work/jobs/ledger/block-balance.ts';

const NOW = 1_000_000_000_000;
const FIRST = quotaPeriod(new Date('2026-01-05'));
const SECOND = quotaPeriod(new Date('2026-02-05'));
const blockBalance = (
  blocks: BlockBalance['blocks'],
  overrides: Partial<BlockBalance> = {},
): BlockBalance => ({
  version: 1,
  period: FIRST,
  quota: 100,
  blocks,
  ...overrides,
});

describe('PDFs that were bought', () => {
  it('are used when the quota is, those that end first before the others', () => {
    const two = blockBalance({ late: { left: 1000, until: NOW + 2 }, early: { left: 1000, until: NOW + 1 } });
    assert.equal(leftOf(two, undefined, NOW), 2000);
    assert.equal(leftOf(two, { [FIRST]: 100 }, NOW), 2000);
    assert.equal(leftOf(two, { [FIRST]: 400 }, NOW), 1700);
    // What was used came from the early one, whose rest is over now.
    assert.equal(leftOf(two, { [FIRST]: 400 }, NOW + 1), 1000);
    assert.equal(leftOf(two, { [FIRST]: 1600 }, NOW + 1), 500);
  });

  it('go on with what is left in the next period, and are taken off once', () => {
    const one = blockBalance({ a: { left: 1000, until: NOW + 1 } });
    const next = countedFor(one, { [FIRST]: 400 }, { period: SECOND, quota: 100 }, NOW);
    assert.equal(next.version, 2);
    assert.equal(next.blocks.a?.left, 700);
    const used = { [FIRST]: 400, [SECOND]: 150 };
    assert.equal(leftOf(next, used, NOW), 650);
    // Back, as when a renewal turns out not to be paid, and forth again.
    const back = countedFor(next, used, { period: FIRST, quota: 100 }, NOW);
    assert.equal(leftOf(back, used, NOW), 650);
    const again = countedFor(back, used, { period: SECOND, quota: 100 }, NOW);
    assert.equal(leftOf(again, used, NOW), 650);
    assert.equal(leftOf(again, { ...used, [SECOND]: 160 }, NOW), 640);
  });

  it('do not bear what was used under a larger quota than there is now, in this period or back in it', () => {
    const one = blockBalance({ a: { left: 1000, until: NOW + 1 } });
    const used = { [FIRST]: 90 };
    const smaller = countedFor(one, used, { period: FIRST, quota: 10 }, NOW);
    assert.equal(leftOf(smaller, used, NOW), 1000);
    assert.equal(leftOf(smaller, { [FIRST]: 95 }, NOW), 995);
    const next = countedFor(one, used, { period: SECOND, quota: 10 }, NOW);
    const back = countedFor(next, used, { period: FIRST, quota: 10 }, NOW);
    assert.equal(leftOf(back, used, NOW), 1000);
    assert.equal(leftOf(back, { [FIRST]: 95 }, NOW), 995);
  });

  it('are lost when they are over: the next period uses those that are not', () => {
    const two = blockBalance({ over: { left: 1000, until: NOW }, late: { left: 1000, until: NOW + 1 } });
    const used = { [FIRST]: 400 };
    const next = countedFor(two, used, { period: SECOND, quota: 100 }, NOW);
    assert.equal(leftOf(next, used, NOW), 1000);
    assert.equal(leftOf(next, { ...used, [SECOND]: 400 }, NOW), 700);
    assert.equal(leftOf(next, { ...used, [SECOND]: 1100 }, NOW), 0);
  });

  it('do not come back when what has taken them fails after they were over', () => {
    const taken = blockBalance({ a: { left: 0, until: NOW, withdrawn: 1000 } });
    const { a } = countedFor(taken, {}, { period: SECOND, quota: 100 }, NOW).blocks;
    assert.equal(withStanding(a!, { frozen: false, back: 0 }).left, 0);
  });

  it('are taken back in part, as far as they are unused, once for each refund, and can be restored', () => {
    const whole = { left: 900, until: NOW + 1 };
    const part = withStanding(whole, { frozen: false, back: 300 });
    assert.deepEqual(part, { left: 600, until: NOW + 1, withdrawn: 300 });
    assert.ok(standsAlike(part, withStanding(part, { frozen: false, back: 300 })));
    const used = { ...part, left: 100 };
    const more = withStanding(used, { frozen: false, back: 600 });
    assert.deepEqual(more, { left: 0, until: NOW + 1, withdrawn: 400 });
    assert.ok(standsAlike(more, withStanding(more, { frozen: false, back: 600 })));
    assert.deepEqual(withStanding(more, { frozen: true, back: 300 }), {
      ...used,
      frozen: true,
    });
    assert.deepEqual(withStanding(more, { frozen: false, back: 0 }), { left: 400, until: NOW + 1 });
  });

  it('cannot be used while they are frozen, and are not lost', () => {
    const frozen = blockBalance({ a: { left: 1000, until: NOW + 1, frozen: true } });
    assert.equal(leftOf(frozen, { [FIRST]: 400 }, NOW), 0);
    assert.equal(
      countedFor(frozen, { [FIRST]: 400 }, { period: SECOND, quota: 100 }, NOW).blocks.a?.left,
      1000,
    );
  });

  it('are remembered for a while when they are used up', () => {
    const gone = blockBalance({ a: { left: 0, until: NOW - 1 } });
    const to = { period: SECOND, quota: 100 };
    assert.deepEqual(Object.keys(countedFor(gone, {}, to, NOW).blocks), ['a']);
    assert.deepEqual(Object.keys(countedFor(gone, {}, to, NOW + 91 * 86_400_000).blocks), []);
  });
});
