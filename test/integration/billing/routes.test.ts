import assert from 'node:assert/strict';
import { checkStripe, setUpStripe } from '../../../src/billing/setup.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import type { Deliverer } from '../../support/stripe/deliverer.ts';
import type { StripeStandIn } from '../../support/stripe/stand-in.ts';
import type { TestApi } from '../http/support/api.ts';
import { openShopApi } from './shop-api.ts';

const DAY_MS = 86_400_000;

describe('the billing routes', () => {
  let api: TestApi;
  let standIn: StripeStandIn;
  let deliverer: Deliverer;
  let owner: AccountClient;

  before(async () => {
    ({ api, standIn, deliverer } = await openShopApi());
  });
  after(async () => {
    await api?.close();
    await standIn?.close();
  });
  beforeEach(async () => {
    owner = await signUp(api.url);
    standIn.calls.length = 0;
  });

  /** Delivers what has happened, and follows it, as a dispatcher does. */
  async function follow(): Promise<void> {
    const { events, sync } = api.billing.selling!;
    standIn.catchUp();
    await deliverer.deliverAll();
    await events.resolveWaiting();
    while ((await sync.sweep()) > 0);
  }
  const checkout = (plan: string) => owner.expect(200, 'POST', '/user/checkout', { plan });
  const subscription = () => owner.expect(200, 'GET', '/user/subscription');
  const openPage = () => [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
  async function subscribe(plan: string): Promise<void> {
    const { url } = await checkout(plan);
    assert.equal(url, openPage().url);
    standIn.acts.completeCheckout(openPage().id);
    await follow();
  }
  const ids = async () => {
    const { id } = await owner.expect(200, 'GET', '/auth/me');
    const { customerId, state } = (await api.billing.store.find(id))!;
    return { customerId: customerId!, subscriptionId: state!.subscriptionId! };
  };

  it('move an account to a paid plan by a hosted page, and its quota to the paid period', async () => {
    assert.deepEqual(await subscription(), { status: 'none', plan: 'free' });
    await subscribe('starter');
    const reported = await subscription();
    assert.deepEqual(
      [reported.status, reported.plan, reported.cancelAtPeriodEnd],
      ['active', 'starter', false],
    );
    const usage = await owner.expect(200, 'GET', '/user/usage');
    assert.equal(usage.plan, 'starter');
    assert.equal(usage.resetDate, reported.currentPeriodEnd.slice(0, 10));
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log?action=account.plan_changed');
    assert.deepEqual([entries[0].actor, entries[0].details.to], ['billing', 'starter']);
  });

  it('keep one page open, and close it for another plan', async () => {
    const { url } = await checkout('starter');
    assert.equal((await checkout('starter')).url, url);
    const { url: other } = await checkout('business');
    assert.notEqual(other, url);
    const { id } = await owner.expect(200, 'GET', '/auth/me');
    const { customerId } = (await api.billing.store.find(id))!;
    const pages = [...standIn.books.sessions.values()].filter(({ customer }) => customer === customerId);
    assert.deepEqual(
      pages.map(({ status }) => status),
      ['expired', 'open'],
    );
  });

  it('make one customer and one page for a checkout whose responses are lost', async () => {
    const lost = new Set(['/v1/customers', '/v1/checkout/sessions']);
    standIn.problemOf = ({ method, path }) => (method === 'POST' && lost.delete(path) ? 'lost' : undefined);
    const customers = standIn.books.customers.size;
    const sessions = standIn.books.sessions.size;
    await checkout('starter');
    standIn.problemOf = () => undefined;
    assert.equal(standIn.books.customers.size, customers + 1);
    assert.equal(standIn.books.sessions.size, sessions + 1);
  });

  it('end a subscription with its period, and revoke that, however it was cancelled', async () => {
    for (const path of ['cancel', 'resume']) {
      const { code } = await owner.expect(400, 'POST', `/user/subscription/${path}`);
      assert.equal(code, 'NOT_SUBSCRIBED');
    }
    await subscribe('starter');
    const cancelled = await owner.expect(200, 'POST', '/user/subscription/cancel');
    assert.deepEqual([cancelled.status, cancelled.cancelAtPeriodEnd], ['active', true]);
    assert.equal((await owner.expect(200, 'POST', '/user/subscription/resume')).cancelAtPeriodEnd, false);
    standIn.acts.cancelInPortal((await ids()).subscriptionId);
    await follow();
    assert.equal((await subscription()).cancelAtPeriodEnd, true);
    assert.equal((await owner.expect(200, 'POST', '/user/subscription/resume')).cancelAtPeriodEnd, false);
    await owner.expect(200, 'POST', '/user/subscription/cancel');
    const { id } = await owner.expect(200, 'GET', '/auth/me');
    api.domain.clock.pass(32 * DAY_MS);
    await follow();
    assert.equal((await api.accounts.find(id))!.plan, 'free');
  });

  it('preview an upgrade, and charge exactly that', async () => {
    const preview = (plan: string) =>
      owner.expect(200, 'GET', `/user/subscription/upgrade-preview?plan=${plan}`);
    assert.deepEqual(await preview('business'), { eligible: false, currentPlan: 'free' });
    await subscribe('starter');
    assert.equal((await preview('free')).eligible, false);
    assert.equal((await preview('starter')).eligible, false);
    const reported = await preview('professional');
    assert.deepEqual(
      [reported.eligible, reported.currentPlan, reported.targetPlan, reported.currency],
      [true, 'starter', 'professional', 'usd'],
    );
    api.domain.clock.pass(60_000);
    assert.equal((await checkout('professional')).url, '');
    assert.equal((await subscription()).plan, 'professional');
    const { invoices } = await owner.expect(200, 'GET', '/user/invoices');
    assert.equal(invoices[0].amountPaidCents, reported.amountDueCents);
  });

  it('say what a period has cost so far, and what comes next', async () => {
    const bill = () => owner.expect(200, 'GET', '/user/bill');
    const free = await bill();
    assert.deepEqual([free.used, free.totalCents, free.nextInvoice, free.blocks], [0, 0, null, []]);
    assert.ok(free.quota > 0 && free.remaining === free.quota);
    await subscribe('professional');
    const { plans } = await owner.expect(200, 'GET', '/user/plans');
    const priceOf = (plan: string) =>
      plans.find(({ name }: { name: string }) => name === plan).priceCentsPerMonth;
    const { currentPeriodEnd } = await subscription();
    const paid = await bill();
    assert.deepEqual([paid.planCents, paid.periodEnd], [priceOf('professional'), currentPeriodEnd]);
    assert.deepEqual(paid.nextInvoice, { at: currentPeriodEnd, amountCents: priceOf('professional') });
    const { currency, blocks } = await owner.expect(200, 'GET', '/user/overage');
    assert.equal(currency, 'usd');
    assert.deepEqual(
      blocks.map(({ blockSize }: { blockSize: number }) => blockSize),
      [1000, 5000, 10_000],
    );
    const asked = standIn.calls.length;
    await owner.expect(200, 'GET', '/user/overage');
    assert.equal(standIn.calls.length, asked, 'the provider is asked for each page');
    await owner.expect(200, 'POST', '/user/overage', { blockSize: 1000 });
    standIn.acts.completeCheckout(openPage().id);
    await follow();
    await api.billing.selling!.blockPurchases.sweep();
    const more = await bill();
    assert.equal(more.blocks.length, 1);
    assert.equal(more.totalCents, priceOf('professional') + blocks[0].priceCents);
    assert.equal(more.remaining, paid.remaining + 1000);
    await checkout('starter');
    assert.equal((await bill()).nextInvoice.amountCents, priceOf('starter'));
    await owner.expect(200, 'POST', '/user/subscription/cancel');
    assert.equal((await bill()).nextInvoice, null);
  });

  it('do not upgrade before the bank has confirmed', async () => {
    await subscribe('starter');
    standIn.acts.changeCard((await ids()).customerId, 'authenticates');
    const { url } = await checkout('business');
    assert.match(url, /^https:/);
    assert.equal((await subscription()).plan, 'starter');
    assert.equal((await checkout('business')).url, url, 'the same invoice again');
    const open = [...standIn.books.invoices.values()].find((invoice) => invoice.hosted_invoice_url === url)!;
    standIn.acts.payHostedInvoice(open.id);
    await follow();
    assert.equal((await subscription()).plan, 'business');
  });

  for (const how of ['here', 'in the portal']) {
    it(`take a cancellation back with an upgrade: cancelled ${how}`, async () => {
      await subscribe('starter');
      if (how === 'here') await owner.expect(200, 'POST', '/user/subscription/cancel');
      else standIn.acts.cancelInPortal((await ids()).subscriptionId);
      await follow();
      assert.equal((await subscription()).cancelAtPeriodEnd, true);
      await checkout('professional');
      const reported = await subscription();
      assert.deepEqual([reported.plan, reported.cancelAtPeriodEnd], ['professional', false]);
      const { id } = await owner.expect(200, 'GET', '/auth/me');
      api.domain.clock.pass(32 * DAY_MS);
      await follow();
      assert.equal((await api.accounts.find(id))!.plan, 'professional');
    });
  }

  it('plan a lower plan for the end of the period, and drop it for a higher one', async () => {
    await subscribe('professional');
    const lower = await checkout('starter');
    assert.equal(lower.url, '');
    assert.equal(lower.scheduledPlan, 'starter');
    const reported = await subscription();
    assert.deepEqual(
      [reported.plan, reported.scheduledPlan, reported.scheduledPlanEffectiveDate],
      ['professional', 'starter', reported.currentPeriodEnd],
    );
    assert.equal((await checkout('professional')).scheduledPlan, undefined);
    await checkout('starter');
    await checkout('business');
    const now = await subscription();
    assert.deepEqual([now.plan, now.scheduledPlan], ['business', undefined]);
  });

  it('repair a downgrade whose second call was never made', async () => {
    await subscribe('professional');
    standIn.problemOf = ({ method, route }) =>
      method === 'POST' && route === '/v1/subscription_schedules/:id' ? 'unsent' : undefined;
    await owner.expect(503, 'POST', '/user/checkout', { plan: 'starter' });
    standIn.problemOf = () => undefined;
    assert.equal((await checkout('starter')).scheduledPlan, 'starter');
  });

  it('send customers with an unpaid invoice to the portal instead of to a second subscription', async () => {
    assert.equal((await owner.expect(400, 'GET', '/user/billing-portal')).code, 'NOT_SUBSCRIBED');
    await subscribe('starter');
    const { url } = await owner.expect(200, 'GET', '/user/billing-portal');
    assert.match(url, /^https:\/\/billing/);
    standIn.acts.alter((await ids()).subscriptionId, { status: 'past_due' });
    await follow();
    assert.match((await checkout('business')).url, /^https:\/\/billing/);
    assert.equal((await subscription()).status, 'past_due');
    const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
    const mails = await api.domain.connection.collection('mails').find({ accountId }).toArray();
    assert.deepEqual(
      mails.map(({ content }) => content.kind),
      ['payment-failed'],
    );
  });

  it('list invoices by status, number, date and order', async () => {
    await subscribe('starter');
    await checkout('professional');
    const list = (query: string) => owner.expect(200, 'GET', `/user/invoices?${query}`);
    const all = await list('');
    assert.equal(all.total, 2);
    assert.deepEqual(all.statusOptions, ['all', 'draft', 'open', 'paid', 'void']);
    const [newest, oldest] = all.invoices;
    assert.equal((await list('status=void')).total, 0);
    assert.equal((await list(`search=${newest.number.toLowerCase()}`)).invoices[0].id, newest.id);
    assert.equal((await list('search=.*')).total, 0);
    const cheapest = (await list('sort=amount_paid_asc&limit=1')).invoices[0];
    assert.equal(cheapest.amountPaidCents, Math.min(newest.amountPaidCents, oldest.amountPaidCents));
    assert.deepEqual((await list('sort=created_asc&limit=1&offset=1')).invoices[0].id, newest.id);
    assert.equal((await list('to=2020-01-01')).total, 0);
    await owner.expect(400, 'GET', '/user/invoices?from=2026-02-01&to=2026-02-01');
    await owner.expect(400, 'GET', '/user/invoices?limit=101');
    const stranger = await signUp(api.url);
    assert.equal((await stranger.expect(200, 'GET', '/user/invoices')).total, 0);
  });

  it('end a second subscription and refund it', async () => {
    await subscribe('starter');
    const { customerId, subscriptionId } = await ids();
    const price = [...standIn.books.prices.values()].find(
      ({ metadata }) => metadata.platen_plan === 'business',
    )!;
    api.domain.clock.pass(1000);
    const second = standIn.acts.subscribe(customerId, price.id, { card: 'good' });
    await follow();
    await follow();
    assert.equal(standIn.books.subscriptions.get(second.id)!.status, 'canceled');
    assert.equal((await ids()).subscriptionId, subscriptionId);
    const refunds = [...standIn.books.refunds.values()].filter(({ status }) => status === 'succeeded');
    assert.deepEqual(
      refunds.map(({ amount }) => amount),
      [34_900],
    );
    assert.equal((await subscription()).plan, 'starter');
  });

  it('allow automatic purchases right after a checkout, before any event has come', async () => {
    const settings = { enabled: true };
    assert.equal(
      (await owner.expect(400, 'POST', '/user/subscription/auto-overage', settings)).code,
      'NOT_SUBSCRIBED',
    );
    await checkout('starter');
    assert.equal(
      (await owner.expect(400, 'POST', '/user/subscription/auto-overage', settings)).code,
      'NOT_SUBSCRIBED',
    );
    standIn.acts.completeCheckout(openPage().id);
    const reported = await owner.expect(200, 'POST', '/user/subscription/auto-overage', settings);
    assert.deepEqual(
      [reported.status, reported.plan, reported.autoOverageEnabled],
      ['active', 'starter', true],
    );
  });

  it('report plan and status of the same moment, also during a change', async () => {
    await subscribe('starter');
    await owner.expect(200, 'POST', '/user/subscription/auto-overage', { enabled: true });
    const { id } = await owner.expect(200, 'GET', '/auth/me');
    await api.billing.selling!.gateway.stripe.subscriptions.cancel((await ids()).subscriptionId);
    const seen: unknown[] = [];
    // Requested after the plan has changed.
    standIn.hold = async ({ route }) => {
      if (route !== '/v1/charges') return;
      const { status, plan } = await subscription();
      seen.push([(await api.accounts.findNow(id))!.plan, status, plan]);
    };
    await follow();
    standIn.hold = async () => undefined;
    assert.deepEqual(seen[0], ['free', 'canceled', 'free']);
    const { status, plan } = await subscription();
    assert.deepEqual([status, plan], ['canceled', 'free']);
  });

  it('cancel once for two concurrent requests, and respond to both', async () => {
    await subscribe('starter');
    const both = await Promise.all([1, 2].map(() => owner.expect(200, 'POST', '/user/subscription/cancel')));
    assert.deepEqual(
      both.map(({ cancelAtPeriodEnd }) => cancelAtPeriodEnd),
      [true, true],
    );
    const cancels = standIn.calls.filter(({ params }) => params.cancel_at_period_end === 'true');
    assert.equal(cancels.length, 1);
  });

  it('find changes that no event has reported', async () => {
    const { reconcile, sync } = api.billing.selling!;
    deliverer.weather = { dropped: 1, doubled: 0, delayed: 0 };
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'starter' });
    standIn.acts.completeCheckout(openPage().id);
    await follow();
    assert.equal((await subscription()).status, 'none');
    assert.ok((await reconcile.events()) > 0);
    assert.equal(await reconcile.events(), 0, 'each once');
    while ((await sync.sweep()) > 0);
    assert.equal((await subscription()).plan, 'starter');
    standIn.acts.cancelInPortal((await ids()).subscriptionId);
    deliverer.weather = { dropped: 0, doubled: 0, delayed: 0 };
    for (let i = 0; i < 3; i += 1) await reconcile.customers();
    while ((await sync.sweep()) > 0);
    assert.equal((await subscription()).cancelAtPeriodEnd, true);
  });

  it('are ready after platen billing setup, which changes nothing the second time', async () => {
    const { gateway } = api.billing.selling!;
    const url = 'https://pdf.example/webhooks/payments';
    const before = await checkStripe(gateway, api.plans, url);
    assert.deepEqual(before.lines, [`the webhook endpoint ${url} is missing`]);
    const first = await setUpStripe(gateway, api.plans, url);
    assert.match(first.webhookSecret ?? '', /^whsec_/);
    assert.deepEqual(await setUpStripe(gateway, api.plans, url), { lines: [] });
    assert.deepEqual(await checkStripe(gateway, api.plans, url), { lines: [] });
    const [price] = (await gateway.stripe.prices.list({ lookup_keys: ['platen_block_1000'] })).data;
    await gateway.stripe.prices.update(price!.id, { metadata: { platen_block_size: '7' } });
    assert.deepEqual((await checkStripe(gateway, api.plans, url)).lines, [
      'the price platen_block_1000 lacks the metadata platen_block_size: 1000',
    ]);
    await gateway.stripe.prices.update(price!.id, { metadata: { platen_block_size: '1000' } });
  });
});
