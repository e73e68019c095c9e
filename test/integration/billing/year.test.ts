import assert from 'node:assert/strict';
import { followEvents, type Life, passDays, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;

/** A year of an account, a day at a time; Stripe renews, charges, tries again and gives up by the same clock. */
describe('A year of a subscription', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  const follow = () => followEvents(life);
  const days = (count: number) => passDays(life, count, follow);
  async function subscribe(plan: 'starter' | 'professional', card: 'good' | 'authenticates' = 'good') {
    await life.selling.subscriptions.checkout(life.accountId, plan);
    const page = [...life.standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    life.standIn.acts.completeCheckout(page.id, card);
    await follow();
  }
  const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
  const account = async () => (await rig.accounts.find(life.accountId))!;
  const plan = async () => (await account()).plan;
  const invoices = (status?: string) =>
    [...life.standIn.books.invoices.values()].filter((invoice) => !status || invoice.status === status);
  const checkout = (to: 'starter' | 'professional' | 'business') =>
    life.selling.subscriptions.checkout(life.accountId, to);

  it('is renewed twelve times, and each period has its quota', async () => {
    await subscribe('starter');
    const starts = new Set<number>();
    for (let month = 0; month < 12; month += 1) {
      await days(month % 2 === 0 ? 31 : 30);
      const { plan: now, quotaWindow } = await account();
      const { current_period_start: start, current_period_end: end } = subscription().items.data[0]!;
      assert.equal(now, 'starter');
      assert.deepEqual(quotaWindow, { start: new Date(start * 1000), end: new Date(end * 1000) });
      starts.add(start);
    }
    assert.equal(starts.size, 12);
    assert.equal(invoices('paid').length, 13);
    assert.ok(invoices().every(({ amount_paid: paid }) => paid === 1_900));
    const { total } = await life.billing.mirror.list(life.accountId, {
      ...{ status: 'paid', sort: 'created_desc', limit: 1, offset: 0 },
    });
    assert.equal(total, 13);
  });

  it('keeps its plan for a week when a card fails, with what is left of the quota; and continues when it is paid', async () => {
    await subscribe('starter');
    await days(40);
    const paid = (await account()).quotaWindow!;
    life.standIn.acts.changeCard(life.customerId, 'declined');
    const unpaidAt = subscription().items.data[0]!.current_period_end * 1000;
    while (life.clock.now().getTime() < unpaidAt + DAY_MS / 2) await days(1);
    assert.equal(subscription().status, 'past_due');
    assert.equal(await plan(), 'starter');
    assert.deepEqual((await account()).quotaWindow!.start, paid.start, 'no new quota');
    await days(8);
    assert.equal(await plan(), 'free');
    assert.equal((await account()).quotaWindow, null);
    life.standIn.acts.changeCard(life.customerId, 'good');
    await days(10);
    assert.equal(subscription().status, 'active');
    assert.equal(await plan(), 'starter');
    assert.equal((await account()).quotaWindow!.start.getTime(), unpaidAt);
  });

  it('ends when every attempt has failed, and owes nothing more', async () => {
    await subscribe('starter');
    life.standIn.acts.changeCard(life.customerId, 'declined');
    await days(60);
    assert.equal(subscription().status, 'canceled');
    assert.equal(await plan(), 'free');
    assert.equal(invoices('open').length, 0);
    assert.equal(invoices('void').length, 1);
    await days(60);
    assert.equal(invoices().length, 2);
  });

  it('is renewed by a card whose bank demands a confirmation, once that is given', async () => {
    await subscribe('professional', 'authenticates');
    await days(32);
    assert.equal(subscription().status, 'past_due');
    const [open] = invoices('open');
    life.standIn.acts.payHostedInvoice(open!.id, 'authenticates');
    await follow();
    assert.deepEqual([subscription().status, await plan()], ['active', 'professional']);
  });

  it('changes to a lower plan at the end of the period, and back to a higher one at once', async () => {
    await subscribe('professional');
    await days(10);
    assert.equal(await checkout('starter'), '');
    await follow();
    assert.equal(await plan(), 'professional');
    assert.equal((await life.billing.store.find(life.accountId))!.state!.scheduledPlan, 'starter');
    await days(25);
    assert.equal(await plan(), 'starter');
    await days(62);
    assert.equal(await plan(), 'starter', 'the schedule is over, and the plan stays');
    assert.equal(await checkout('business'), '');
    await follow();
    assert.equal(await plan(), 'business');
    const charged = invoices('paid').map(({ billing_reason: reason, amount_paid: paid }) => [reason, paid]);
    const [reason, paid] = charged.at(-1)!;
    assert.equal(reason, 'subscription_update');
    assert.ok(Number(paid) > 0 && Number(paid) < 34_900 - 1_900 + 1);
  });

  it('ends with the period in which it was cancelled, by the API or in the portal', async () => {
    await subscribe('starter');
    await life.selling.subscriptions.cancel(life.accountId);
    await follow();
    await days(20);
    assert.equal(await plan(), 'starter');
    await days(15);
    assert.equal(await plan(), 'free');
    await subscribe('professional');
    const second = [...life.standIn.books.subscriptions.values()].at(-1)!;
    life.standIn.acts.cancelInPortal(second.id);
    await days(35);
    assert.deepEqual([second.status, await plan()], ['canceled', 'free']);
  });
});
