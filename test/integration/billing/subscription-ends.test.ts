import assert from 'node:assert/strict';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import { followAndDie } from './killed-dispatcher.ts';
import { followEvents, type Life, passDays, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;
/** Longer than an account is left to a silent dispatcher. */
const CLAIM_OVER_MS = LEASE_MS;
const PLAN = 'professional';

describe('The mail that reports that a subscription has ended', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
    await life.selling.subscriptions.checkout(life.accountId, PLAN);
    const page = [...life.standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    life.standIn.acts.completeCheckout(page.id);
    await follow();
  });
  afterEach(() => life?.end());

  const follow = () => followEvents(life);
  const days = (count: number) => passDays(life, count, follow);
  const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
  async function untilPeriodIsOver(): Promise<void> {
    const { current_period_end: end } = subscription().items.data[0]!;
    while (life.clock.now().getTime() < end * 1000 + DAY_MS / 2) await days(1);
  }
  const plan = async () => (await rig.accounts.findNow(life.accountId))!.plan;
  async function mails(): Promise<unknown[]> {
    const kept = rig.connection.collection<Mail>('mails').find({ accountId: life.accountId });
    const contents = (await kept.toArray()).map(({ content }) => content);
    return contents.filter(({ kind }) => kind === 'subscription-ended').map(({ values }) => values);
  }
  const CANCELLED = { plan: PLAN, because: 'cancellation', payUrl: null };

  it('is sent when a cancellation takes effect, and not when it is requested', async () => {
    await life.selling.subscriptions.cancel(life.accountId);
    await follow();
    assert.deepEqual(await mails(), []);
    await untilPeriodIsOver();
    assert.deepEqual([await plan(), await mails()], ['free', [CANCELLED]]);
  });

  it('is sent once, however often its events come, in any number of processes', async () => {
    life.standIn.acts.cancelInPortal(subscription().id);
    await untilPeriodIsOver();
    const { selling, standIn } = life;
    for (let round = 0; round < 3; round += 1) {
      for (const event of [...standIn.books.events.values()].toReversed())
        await selling.events.note(event as Parameters<typeof selling.events.note>[0]);
      await Promise.all([selling.sync.sweep(), selling.sync.sweep(), selling.sync.checkAt(life.accountId)]);
    }
    assert.deepEqual(await mails(), [CANCELLED]);
  });

  it('is sent when the grace of an unpaid renewal is over, with a way to pay; and not again at its end', async () => {
    life.standIn.acts.changeCard(life.customerId, 'declined');
    await untilPeriodIsOver();
    assert.deepEqual([subscription().status, await mails()], ['past_due', []]);
    await days(8);
    const { hosted_invoice_url: payUrl } = [...life.standIn.books.invoices.values()].at(-1)!;
    const unpaid = { plan: PLAN, because: 'payment', payUrl };
    assert.deepEqual([await plan(), await mails()], ['free', [unpaid]]);
    await days(40);
    assert.deepEqual([subscription().status, await mails()], ['canceled', [unpaid]]);
  });

  it('is sent again for a later unpaid period', async () => {
    for (let times = 1; times <= 2; times += 1) {
      life.standIn.acts.changeCard(life.customerId, 'declined');
      await untilPeriodIsOver();
      await days(8);
      assert.deepEqual([await plan(), (await mails()).length], ['free', times]);
      life.standIn.acts.changeCard(life.customerId, 'good');
      while (subscription().status !== 'active') await days(1);
      assert.equal(await plan(), PLAN);
    }
  });

  it('reports that the renewal was not paid, also when no event came before the end', async () => {
    life.standIn.acts.changeCard(life.customerId, 'declined');
    life.clock.pass(70 * DAY_MS);
    await follow();
    assert.equal(subscription().status, 'canceled');
    assert.deepEqual(await mails(), [{ plan: PLAN, because: 'payment', payUrl: null }]);
  });

  it('is sent when the customer is deleted at the provider', async () => {
    await life.selling.gateway.stripe.customers.del(life.customerId);
    await follow();
    assert.deepEqual([await plan(), await mails()], ['free', [CANCELLED]]);
  });

  it('is not sent when another subscription replaces it, or when there was none', async () => {
    const { standIn, selling } = life;
    const price = subscription().items.data[0]!.price.id;
    standIn.acts.subscribe(life.customerId, price, { card: 'good' });
    await selling.gateway.stripe.subscriptions.cancel(subscription().id);
    await follow();
    assert.deepEqual([await plan(), await mails()], [PLAN, []]);
  });

  for (const when of ['before', 'after'] as const) {
    it(`is sent once, though its process was killed ${when} it was added`, async () => {
      const { selling } = life;
      await selling.gateway.stripe.subscriptions.cancel(subscription().id);
      await followAndDie(rig, life, when, 'enqueue');
      assert.equal((await mails()).length, when === 'before' ? 0 : 1);
      life.clock.pass(CLAIM_OVER_MS);
      await follow();
      assert.deepEqual([await plan(), await mails()], ['free', [CANCELLED]]);
    });
  }
});
