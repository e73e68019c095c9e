import assert from 'node:assert/strict';
import type { BlockState } from '../../../src/billing/blocks/block-store.ts';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import type { Card } from '../../support/stripe/cards.ts';
import { BlockOracle } from './block-oracle.ts';
import { type Life, passDays, useLifeRig } from './life-rig.ts';
import { checkMirror, checkSubscription } from './subscription-oracle.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PRICE = 1_000;
const UNITS = 1_000;
const AT_ONCE = 20;

/** The months of a year, a day at a time; after every event, and every day, all that was written is held against Stripe's books. */
describe('A year of blocks beyond the quota', () => {
  const rig = useLifeRig();
  let life: Life;
  let oracle: BlockOracle;
  let checks: number;

  beforeEach(async () => {
    life = await rig.begin({ afterEvent: settleAndCheck });
    oracle = new BlockOracle(life, rig);
    checks = 0;
    await life.selling.subscriptions.checkout(life.accountId, 'starter');
    await complete('good');
  });
  afterEach(async () => {
    assert.ok(checks > 20, `${checks} checks`);
    await life?.end();
  });

  async function settle(): Promise<void> {
    const { events, sync, blockPurchases } = life.selling;
    do {
      await events.resolveWaiting();
      while ((await sync.sweep()) > 0);
    } while ((await blockPurchases.sweep()) > 0);
  }
  async function settleAndCheck(): Promise<void> {
    await settle();
    await checkSubscription(life, rig);
    await oracle.check();
    checks += 1;
  }
  async function follow(): Promise<void> {
    life.standIn.catchUp();
    await settle();
    await life.deliverer.deliverAll();
    await settleAndCheck();
    await checkMirror(life);
  }
  const days = (count: number) => passDays(life, count, follow);
  const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
  const periodEnd = () => subscription().items.data[0]!.current_period_end * 1000;
  /** Until the next period has begun and is paid, or is found not to be. */
  async function nextPeriod(): Promise<void> {
    const end = periodEnd();
    while (life.clock.now().getTime() < end + 2 * HOUR_MS) await days(1);
  }
  async function complete(card: Card): Promise<void> {
    const page = [...life.standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    life.standIn.acts.completeCheckout(page.id, card);
    await follow();
  }
  const allow = (capCents: number) =>
    life.selling.autoOverage.set(life.accountId, { enabled: true, capCents }, BY_BILLING);
  const overage = async () => (await life.billing.blockLedger.find(life.accountId))!.overage!;
  const left = async () => {
    const { plan, quotaWindow } = (await rig.accounts.find(life.accountId))!;
    const period = quotaPeriod(life.clock.now(), quotaWindow);
    return life.billing.blockLedger.left(life.accountId, period, rig.plans.plan(plan).monthlyRenders);
  };
  const states = async (): Promise<BlockState[]> => (await oracle.blocks()).map(({ state }) => state);
  /** The charges for blocks, in their order. */
  const charges = () =>
    [...life.standIn.books.charges.values()].filter(({ amount, paid }) => amount === PRICE && paid);
  const refund = (charge: string, amount?: number) =>
    life.selling.gateway.stripe.refunds.create({ charge, ...(amount !== undefined && { amount }) });

  /** Uses the rest, and requests more. @returns the first response. */
  async function needMore(): Promise<'blockBalance' | 'refused'> {
    life.clock.pass(MINUTE_MS);
    await oracle.useUp();
    const responses = new Set(await oracle.request(AT_ONCE));
    assert.equal(responses.size, 1, String([...responses]));
    await follow();
    return responses.has('refused') ? 'refused' : 'blockBalance';
  }
  async function buyByHand(): Promise<void> {
    life.clock.pass(MINUTE_MS);
    await life.selling.blockCheckouts.buy(life.accountId, UNITS);
    await complete('good');
  }

  it('buys up to the cap in each of twelve periods, and never beyond', async () => {
    await allow(2 * PRICE);
    for (let month = 1; month <= 12; month += 1) {
      assert.equal((await overage()).spentCents, 0);
      assert.equal(await needMore(), 'blockBalance');
      assert.deepEqual(await oracle.request(2), ['let in', 'let in']);
      assert.equal(await needMore(), 'blockBalance');
      await days(3);
      assert.equal(await needMore(), 'refused');
      assert.deepEqual([(await overage()).spentCents, charges().length], [2 * PRICE, 2 * month]);
      await nextPeriod();
    }
    assert.deepEqual(new Set(await states()), new Set(['granted']));
  });

  it('has one cap at a time, through two cards, a raise, a refund and a dispute; the next period has its own', async () => {
    await allow(PRICE);
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'refused');
    await allow(2 * PRICE);
    life.standIn.acts.changeCard(life.customerId, 'declined');
    // What failed does not count, and nothing more is tried.
    assert.equal(await needMore(), 'blockBalance');
    assert.deepEqual(await states(), ['granted', 'failed']);
    assert.deepEqual([(await overage()).enabled, (await overage()).spentCents], [false, PRICE]);
    assert.equal(await needMore(), 'refused');
    life.standIn.acts.changeCard(life.customerId, 'good');
    await allow(2 * PRICE);
    assert.equal(await needMore(), 'blockBalance');
    await allow(PRICE);
    assert.equal(await needMore(), 'refused');
    await allow(2 * PRICE);
    await refund(charges()[0]!.id);
    await follow();
    assert.deepEqual(await states(), ['reversed', 'failed', 'granted']);
    assert.equal(await needMore(), 'refused');
    const dispute = life.standIn.acts.dispute(charges()[1]!.id);
    await follow();
    assert.equal((await overage()).enabled, false);
    life.standIn.acts.decideDispute(dispute.id, 'won');
    await follow();
    await allow(2 * PRICE);
    assert.equal(await needMore(), 'refused');
    assert.equal((await overage()).spentCents, 2 * PRICE);
    await nextPeriod();
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'refused');
    assert.equal(charges().length, 4);
  });

  it('counts a purchase in the period of its decision, though it is paid in the next', async () => {
    await allow(PRICE);
    await days(27);
    life.clock.pass(periodEnd() - life.clock.now().getTime() - HOUR_MS);
    await follow();
    life.standIn.acts.changeCard(life.customerId, 'authenticates');
    assert.equal(await needMore(), 'blockBalance');
    assert.deepEqual(await states(), ['action_required']);
    const [waiting] = [...life.standIn.books.invoices.values()].filter(({ status }) => status === 'open');
    life.standIn.acts.changeCard(life.customerId, 'good');
    life.clock.pass(4 * HOUR_MS);
    await follow();
    assert.deepEqual([(await overage()).spentCents, charges().length], [0, 0]);
    life.standIn.acts.payHostedInvoice(waiting!.id);
    await follow();
    assert.deepEqual([(await overage()).spentCents, charges().length], [0, 1]);
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'refused');
    assert.deepEqual([(await overage()).spentCents, charges().length], [PRICE, 2]);
  });

  it('gives an unconfirmed purchase up in the next period, and takes nothing from that one', async () => {
    await allow(PRICE);
    await days(27);
    life.clock.pass(periodEnd() - life.clock.now().getTime() - HOUR_MS);
    await follow();
    life.standIn.acts.changeCard(life.customerId, 'authenticates');
    assert.equal(await needMore(), 'blockBalance');
    life.standIn.acts.changeCard(life.customerId, 'good');
    await days(2);
    assert.deepEqual(await states(), ['failed']);
    assert.deepEqual([(await overage()).spentCents, (await overage()).enabled], [0, false]);
    await allow(PRICE);
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'refused');
    assert.equal(charges().length, 1);
  });

  it('buys nothing while a renewal is owed, and continues when it is paid', async () => {
    await allow(2 * PRICE);
    assert.equal(await needMore(), 'blockBalance');
    life.standIn.acts.changeCard(life.customerId, 'declined');
    await nextPeriod();
    assert.equal(subscription().status, 'past_due');
    assert.equal(await needMore(), 'refused');
    await days(9);
    assert.equal(await needMore(), 'refused', 'on the free plan');
    life.standIn.acts.changeCard(life.customerId, 'good');
    while (subscription().status !== 'active') await days(1);
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(await needMore(), 'refused');
    assert.equal(charges().length, 3);
  });

  it('freezes a disputed block for months, and gives it back when the dispute is won', async () => {
    await buyByHand();
    await buyByHand();
    const whole = await left();
    const [first, second] = charges().map(({ id }) => life.standIn.acts.dispute(id));
    await follow();
    assert.deepEqual(await states(), ['frozen', 'frozen']);
    assert.equal(await left(), whole - 2 * UNITS);
    await days(10);
    life.standIn.acts.decideDispute(first!.id, 'won');
    await follow();
    assert.deepEqual(await states(), ['granted', 'frozen']);
    assert.equal(await left(), whole - UNITS);
    await oracle.useUp();
    assert.equal(await left(), 0);
    // The other is decided when its units are over: it is not used any more, and nothing is taken for it.
    for (let month = 0; month < 3; month += 1) await nextPeriod();
    const quota = await left();
    life.standIn.acts.decideDispute(second!.id, 'won');
    await follow();
    assert.deepEqual(await states(), ['granted', 'granted']);
    assert.equal(await left(), quota);
    await buyByHand();
    await oracle.useUp();
    assert.equal(await left(), 0);
  });

  it('takes a block back when its dispute is lost, once, and leaves the subscription alone', async () => {
    await allow(3 * PRICE);
    assert.equal(await needMore(), 'blockBalance');
    await buyByHand();
    const before = await left();
    const disputes = charges().map(({ id }) => life.standIn.acts.dispute(id));
    await follow();
    assert.equal((await overage()).enabled, false);
    await days(40);
    for (const { id } of disputes) {
      life.standIn.acts.decideDispute(id, 'lost');
      await follow();
    }
    assert.deepEqual(await states(), ['reversed', 'reversed']);
    assert.equal(before, 2 * UNITS);
    const { plan } = (await rig.accounts.find(life.accountId))!;
    assert.deepEqual([subscription().status, plan], ['active', 'starter']);
    assert.equal(await left(), rig.plans.plan('starter').monthlyRenders);
    // Off until the owner switches it on again.
    assert.equal(await needMore(), 'refused');
    await allow(PRICE);
    assert.equal(await needMore(), 'blockBalance');
    assert.equal(charges().length, 3);
  });

  it('takes a refunded part from the rest of that block alone, in any period', async () => {
    await oracle.useUp();
    for (let count = 0; count < 3; count += 1) await buyByHand();
    const [first, second, third] = charges().map(({ id }) => id);
    assert.equal(await left(), 3 * UNITS);
    await refund(first!, 1);
    await follow();
    assert.deepEqual(await states(), ['granted', 'granted', 'granted']);
    assert.equal(await left(), 3 * UNITS - UNITS / PRICE);
    // The rest of it, later.
    await refund(first!);
    await follow();
    assert.deepEqual(await states(), ['reversed', 'granted', 'granted']);
    assert.equal(await left(), 2 * UNITS);
    await nextPeriod();
    const quota = rig.plans.plan('starter').monthlyRenders;
    assert.equal(await left(), quota + 2 * UNITS);
    const renewal = [...life.standIn.books.charges.values()].findLast(({ amount }) => amount !== PRICE)!;
    await refund(renewal.id);
    await follow();
    assert.equal(await left(), quota + 2 * UNITS, 'a renewal is no block');
    await refund(second!);
    await follow();
    assert.equal(await left(), quota + UNITS);
    await oracle.useUp();
    await refund(third!);
    await follow();
    assert.deepEqual(await states(), ['reversed', 'reversed', 'reversed']);
    assert.equal(await left(), 0);
    await nextPeriod();
    assert.equal(await left(), quota);
  });

  it('gives back what a failed refund took, unless the block has expired', async () => {
    await oracle.useUp();
    for (let count = 0; count < 2; count += 1) await buyByHand();
    const refunds = [];
    for (const { id } of charges()) refunds.push(await refund(id));
    await follow();
    assert.deepEqual(await states(), ['reversed', 'reversed']);
    await days(20);
    life.standIn.acts.failRefund(refunds[0]!.id);
    await follow();
    assert.deepEqual(await states(), ['granted', 'reversed']);
    assert.equal(await left(), UNITS);
    for (let month = 0; month < 2; month += 1) await nextPeriod();
    const quota = rig.plans.plan('starter').monthlyRenders;
    assert.equal(await left(), quota);
    life.standIn.acts.failRefund(refunds[1]!.id);
    await follow();
    assert.deepEqual(await states(), ['granted', 'granted']);
    assert.equal(await left(), quota);
    await buyByHand();
    await oracle.useUp();
    assert.equal(await left(), 0);
  });

  it('keeps blocks to the end of the period after their purchase, for every length of a month', async () => {
    const quota = rig.plans.plan('starter').monthlyRenders;
    for (let month = 0; month < 6; month += 1) {
      await days(2);
      await buyByHand();
      assert.equal(await left(), quota + UNITS);
      await nextPeriod();
      while (life.clock.now().getTime() + DAY_MS < periodEnd()) {
        assert.equal(await left(), quota + UNITS, life.clock.now().toISOString());
        await days(1);
      }
      await nextPeriod();
      assert.equal(await left(), quota);
      await oracle.useUp();
      assert.equal(await left(), 0);
      await nextPeriod();
    }
  });
});
