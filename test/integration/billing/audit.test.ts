import assert from 'node:assert/strict';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { BlockOracle } from './block-oracle.ts';
import { followAndDie } from './killed-dispatcher.ts';
import { deliverEvents, type Life, passDays, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;
/** Longer than an account is left to a silent dispatcher. */
const CLAIM_OVER_MS = LEASE_MS;
const UNITS = 1_000;

type Entry = readonly [action: string, details: Readonly<Record<string, string>>];

describe('The audit log of what billing changes', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  async function follow(): Promise<void> {
    await deliverEvents(life);
    const { sync, blockPurchases, changes } = life.selling;
    while ((await sync.sweep()) + (await blockPurchases.sweep()) + (await changes.sweep()) > 0);
  }
  const days = (count: number) => passDays(life, count, follow);
  async function complete(): Promise<void> {
    const page = [...life.standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    life.standIn.acts.completeCheckout(page.id);
    await follow();
  }
  async function subscribe(): Promise<void> {
    await life.selling.subscriptions.checkout(life.accountId, 'starter');
    await complete();
  }
  async function buyByHand(): Promise<string> {
    await life.selling.blockCheckouts.buy(life.accountId, UNITS);
    await complete();
    return (await blocks()).at(-1)!._id;
  }
  const blocks = () => new BlockOracle(life, rig).blocks();
  /** All that billing has recorded. */
  async function entries() {
    const query = { limit: 1_000, offset: 0, newestFirst: false };
    const all = (await rig.audit.list(life.accountId, query)).entries;
    return all.filter(({ actor }) => actor === 'billing');
  }
  const known = new Set<string>();
  /** The entries since the last call, by action. */
  async function news(): Promise<Entry[]> {
    const fresh = (await entries()).filter(({ _id }) => !known.has(_id));
    for (const { _id } of fresh) known.add(_id);
    return fresh
      .map(({ action, details }) => [action, details] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
  const period = () => {
    const { current_period_start: start, current_period_end: end } = [
      ...life.standIn.books.subscriptions.values(),
    ][0]!.items.data[0]!;
    return [new Date(start * 1000).toISOString(), new Date(end * 1000).toISOString()] as const;
  };

  it('has every change of the plan and of its period, with the cause', async () => {
    await subscribe();
    const first = period().join('/');
    const subscribed = await news();
    assert.deepEqual(
      subscribed.map(([action, { cause: _cause, ...details }]) => [action, details]),
      [
        ['account.plan_changed', { from: 'free', to: 'starter' }],
        ['account.quota_period_changed', { from: 'calendar month', to: first }],
      ],
    );
    assert.match(subscribed[0]![1].cause!, /^(checkout\.session|customer\.subscription|invoice)/);

    while (period().join('/') === first) await days(1);
    const second = period().join('/');
    await days(1);
    const [renewed, ...more] = await news();
    assert.deepEqual(
      [renewed![0], renewed![1].from, renewed![1].to],
      ['account.quota_period_changed', first, second],
    );
    assert.deepEqual(more, []);

    life.standIn.acts.changeCard(life.customerId, 'declined');
    const [, renewal] = period();
    while (life.clock.now() < new Date(Date.parse(renewal) + DAY_MS)) await days(1);
    const grace = new Date(Date.parse(renewal) + 7 * DAY_MS).toISOString();
    const frozen = `${second.split('/')[0]}/${grace}`;
    // For the hour until it is charged Stripe calls the new period active.
    assert.deepEqual(
      (await news()).map(([action, { to }]) => [action, to]),
      [
        ['account.quota_period_changed', period().join('/')],
        ['account.quota_period_changed', frozen],
      ],
    );
    await days(8);
    const cause = 'grace ended';
    assert.deepEqual(await news(), [
      ['account.plan_changed', { from: 'starter', to: 'free', cause }],
      ['account.quota_period_changed', { from: frozen, to: 'calendar month', cause }],
    ]);
  });

  it('has each change of a block: granted, frozen, returned, taken back, and expired', async () => {
    await subscribe();
    await news();
    const blockId = await buyByHand();
    const endsAt = (await blocks())[0]!.endsAt!.toISOString();
    const units = String(UNITS);
    assert.deepEqual(await news(), [
      ['billing.block_granted', { units, until: endsAt, cause: 'bought by hand' }],
    ]);
    const { entries: whole } = await rig.audit.list(life.accountId, {
      ...{ action: 'billing.block_granted', limit: 1, offset: 0, newestFirst: true },
    });
    assert.equal(whole[0]!.targetId, blockId);

    const charge = [...life.standIn.books.charges.keys()].at(-1)!;
    const dispute = life.standIn.acts.dispute(charge);
    await follow();
    assert.deepEqual(await news(), [['billing.block_frozen', { units, cause: 'dispute' }]]);
    life.standIn.acts.decideDispute(dispute.id, 'won');
    await follow();
    assert.deepEqual(await news(), [['billing.block_returned', { units, cause: 'dispute won' }]]);
    const refund = await life.selling.gateway.stripe.refunds.create({ charge });
    await follow();
    assert.deepEqual(await news(), [['billing.block_taken_back', { units, cause: 'refund' }]]);
    life.standIn.acts.failRefund(refund.id);
    await follow();
    const [[action, back] = []] = await news();
    assert.deepEqual([action, back!.units], ['billing.block_returned', units]);

    // Without a request for the quota, the end is handled all the same, once.
    life.clock.pass(Date.parse(endsAt) - life.clock.now().getTime() - 1);
    await life.selling.blockPurchases.expire();
    await life.selling.changes.sweep();
    assert.deepEqual(await news(), []);
    life.clock.pass(1);
    for (let again = 0; again < 2; again += 1) {
      await life.selling.blockPurchases.expire();
      await life.selling.changes.sweep();
    }
    assert.deepEqual(await news(), [['billing.block_expired', { units, cause: 'its time is over' }]]);
  });

  it('has the expiry of blocks that is first noticed in a new period', async () => {
    await buyByHand();
    await news();
    const { endsAt } = (await blocks())[0]!;
    life.clock.pass(endsAt!.getTime() - life.clock.now().getTime() + 1);
    assert.equal(await life.billing.blockLedger.left(life.accountId, quotaPeriod(life.clock.now()), 7), 7);
    await life.selling.changes.sweep();
    const cause = 'its time is over';
    assert.deepEqual(await news(), [['billing.block_expired', { units: String(UNITS), cause }]]);
    await life.selling.blockPurchases.expire();
    await life.selling.changes.sweep();
    assert.deepEqual(await news(), []);
  });

  it('has auto overage that is switched off by a failed payment, or suspended by an unpaid renewal', async () => {
    await subscribe();
    const settings = { enabled: true, capCents: 5_000 };
    await life.selling.autoOverage.set(life.accountId, settings, BY_BILLING);
    life.standIn.acts.changeCard(life.customerId, 'declined');
    await follow();
    await news();
    const oracle = new BlockOracle(life, rig);
    await oracle.useUp();
    await oracle.request(1);
    await follow();
    assert.deepEqual(await news(), [
      ['billing.auto_overage_changed', { enabled: 'false', cause: 'payment' }],
    ]);
    await life.selling.autoOverage.set(life.accountId, settings, BY_BILLING);
    await news();
    const [, end] = period();
    while (life.clock.now() < new Date(Date.parse(end) + DAY_MS)) await days(1);
    assert.deepEqual(
      (await news()).filter(([action]) => action === 'billing.auto_overage_changed'),
      [['billing.auto_overage_changed', { enabled: 'false', cause: 'subscription' }]],
    );
  });

  for (const when of ['before', 'after'] as const) {
    it(`has the change of a plan once, though its process was killed ${when} the entry`, async () => {
      await life.selling.subscriptions.checkout(life.accountId, 'starter');
      const page = [...life.standIn.books.sessions.values()][0]!;
      life.standIn.acts.completeCheckout(page.id);
      await followAndDie(rig, life, when, 'recordOnce');
      assert.equal((await rig.accounts.findNow(life.accountId))!.plan, 'starter', 'the change was made');
      assert.equal((await entries()).length, when === 'before' ? 0 : 1);
      life.clock.pass(CLAIM_OVER_MS);
      await follow();
      await follow();
      assert.deepEqual(
        (await news()).map(([action, { to }]) => [action, to]),
        [
          ['account.plan_changed', 'starter'],
          ['account.quota_period_changed', period().join('/')],
        ],
      );
    });

    it(`has a purchase once, though its process was killed ${when} the entry`, async () => {
      await life.selling.blockCheckouts.buy(life.accountId, UNITS);
      const page = [...life.standIn.books.sessions.values()][0]!;
      life.standIn.acts.completeCheckout(page.id);
      await followAndDie(rig, life, when, 'recordOnce');
      assert.equal((await entries()).length, when === 'before' ? 0 : 1);
      life.clock.pass(CLAIM_OVER_MS);
      await follow();
      await follow();
      assert.deepEqual(
        (await news()).map(([action]) => action),
        ['billing.block_granted'],
      );
    });
  }

  it('has a change that was reverted at the provider before it could be recorded', async () => {
    await life.selling.subscriptions.checkout(life.accountId, 'starter');
    const page = [...life.standIn.books.sessions.values()][0]!;
    life.standIn.acts.completeCheckout(page.id);
    await followAndDie(rig, life, 'before', 'recordOnce');
    await life.selling.gateway.stripe.customers.del(life.customerId);
    life.clock.pass(CLAIM_OVER_MS);
    await follow();
    const plans = (await entries()).filter(({ action }) => action === 'account.plan_changed');
    assert.deepEqual(plans.map(({ details: { from, to } }) => `${from} → ${to}`).toSorted(), [
      'free → starter',
      'starter → free',
    ]);
    assert.equal((await rig.accounts.findNow(life.accountId))!.plan, 'free');
  });
});
