import assert from 'node:assert/strict';
import qs from 'qs';
import type Stripe from 'stripe';
import { TestClock } from '../../support/domain.ts';
import { REJECTED_SINCE_ENDIVE } from '../../support/stripe/endive.ts';
import { ask, ShapeCheck } from '../../support/stripe/shape-check.ts';
import { ROUTES, StripeStandIn } from '../../support/stripe/stand-in.ts';
import { type StripeMock, startStripeMock } from '../../support/stripe/stripe-mock.ts';
import { makePrices, makeSubscriber } from './life-cycle.ts';

describe('The stand-in of Stripe, compared with stripe-mock', () => {
  let mock: StripeMock;
  let standIn: StripeStandIn;
  let stripe: Stripe;
  let check: ShapeCheck;

  before(async () => {
    mock = await startStripeMock();
  });
  after(() => mock?.close());
  beforeEach(() => {
    standIn = new StripeStandIn({ clock: new TestClock() });
    stripe = standIn.client({ maxNetworkRetries: 0 });
    check = new ShapeCheck(mock.url);
    check.watch(standIn);
  });

  it('takes nothing, on any of its routes, that Stripe does not know, and responds with fields of Stripe', async () => {
    const prices = await makePrices(stripe);
    await useCatalogue();
    const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.starter);
    const [item] = (await stripe.subscriptions.retrieve(subscription)).items.data;
    await useInvoices(customer, subscription, prices.block);
    await useSubscription(subscription, item!.id, prices);
    await useCheckout(customer, prices.block);
    await usePayments(customer);
    await stripe.subscriptions.cancel(subscription, { invoice_now: false, prorate: false });
    await stripe.customers.del(customer);
    const shapes = await check.settled();
    assert.deepEqual(check.disagreements, []);
    const routes = new Set(shapes.map((shape) => shape.split(' ').slice(0, 2).join(' ')));
    const unused = ROUTES.map(({ method, path }) => `${method} ${path}`).filter((each) => !routes.has(each));
    assert.deepEqual(unused, []);
  });

  async function useCatalogue(): Promise<void> {
    const product = await stripe.products.create({ id: 'platen_plans', name: 'Plans', description: 'All' });
    await stripe.products.update(product.id, { metadata: { platen: 'yes' }, active: true });
    await stripe.products.retrieve(product.id);
    await stripe.products.list({ ids: [product.id], active: true, limit: 100 });
    const keys = { lookup_keys: ['platen_starter'], active: true, expand: ['data.product'] };
    const [price] = (await stripe.prices.list(keys)).data;
    await stripe.prices.update(price!.id, { metadata: { plan: 'starter' }, nickname: 'Starter' });
    await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 2_900,
      recurring: { interval: 'month', interval_count: 1 },
      lookup_key: 'platen_starter',
      transfer_lookup_key: true,
      tax_behavior: 'exclusive',
    });
    assert.equal((await stripe.prices.retrieve(price!.id)).lookup_key, null);
    // Without `api_version`: stripe-mock does not know Platen's pinned version.
    const endpoint = await stripe.webhookEndpoints.create({
      url: 'https://platen.test/webhooks/payments',
      enabled_events: ['*'],
    });
    await stripe.webhookEndpoints.update(endpoint.id, { enabled_events: ['invoice.paid'], disabled: false });
    await stripe.webhookEndpoints.retrieve(endpoint.id);
    await stripe.webhookEndpoints.list({ limit: 100 });
    await stripe.webhookEndpoints.del(endpoint.id);
    await stripe.accounts.retrieveCurrent();
    await stripe.events.list({ delivery_success: false, types: ['invoice.paid'], created: { gte: 1 } });
  }

  async function useInvoices(customer: string, subscription: string, block: string): Promise<void> {
    const make = () =>
      stripe.invoices.create({
        customer,
        auto_advance: false,
        currency: 'usd',
        description: 'Overage',
        metadata: { blockId: 'b' },
        pending_invoice_items_behavior: 'exclude',
      });
    const first = await make();
    await stripe.invoices.update(first.id, { metadata: { blockId: 'c' } });
    await stripe.invoices.del(first.id);
    const second = await make();
    await stripe.invoices.addLines(second.id, { lines: [{ pricing: { price: block }, quantity: 1 }] });
    await stripe.invoices.listLineItems(second.id, { limit: 10 });
    await stripe.invoices.finalizeInvoice(second.id, { auto_advance: false });
    const { default_payment_method: method } = await stripe.subscriptions.retrieve(subscription);
    const payment_method = String(method);
    await stripe.paymentMethods.retrieve(payment_method);
    const expand = ['payments.data.payment.payment_intent'];
    await stripe.invoices.pay(second.id, { off_session: true, payment_method, expand });
    await stripe.invoicePayments.list({ invoice: second.id, status: 'paid' });
    const third = await make();
    await stripe.invoiceItems.create({ customer, invoice: third.id, amount: 500, currency: 'usd' });
    await stripe.invoices.finalizeInvoice(third.id);
    await stripe.invoices.markUncollectible(third.id);
    await stripe.invoices.voidInvoice(third.id);
    await stripe.invoices.retrieve(third.id, { expand });
    const [newest] = (await stripe.invoices.list({ customer, subscription, status: 'paid', limit: 100 }))
      .data;
    const created = { gte: 1, lte: 4_000_000_000 };
    await stripe.invoices.list({ customer, created, limit: 100, starting_after: newest!.id });
    await stripe.subscriptions.list({ customer, status: 'all', limit: 100, starting_after: subscription });
  }

  async function useSubscription(
    subscription: string,
    item: string,
    { starter, professional }: { starter: string; professional: string },
  ): Promise<void> {
    await stripe.invoices.createPreview({
      subscription,
      subscription_details: {
        items: [{ id: item, price: professional }],
        proration_behavior: 'always_invoice',
      },
    });
    await stripe.subscriptions.update(subscription, {
      items: [{ id: item, price: professional }],
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
      expand: ['latest_invoice'],
    });
    await stripe.subscriptions.update(subscription, { cancel_at_period_end: true });
    await stripe.subscriptions.update(subscription, { cancel_at_period_end: false, cancel_at: '' });
    await stripe.subscriptions.list({ status: 'all', limit: 100, expand: ['data.latest_invoice'] });
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription });
    const { start_date, end_date } = schedule.phases[0]!;
    await stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      metadata: { plan: 'starter' },
      phases: [
        { items: [{ price: professional, quantity: 1 }], start_date, end_date },
        {
          items: [{ price: starter, quantity: 1 }],
          duration: { interval: 'month', interval_count: 1 },
          proration_behavior: 'none',
        },
      ],
    });
    await stripe.subscriptionSchedules.retrieve(schedule.id);
    await stripe.subscriptionSchedules.release(schedule.id);
    const other = await makeSubscriber(standIn, stripe, starter);
    const ended = await stripe.subscriptionSchedules.create({ from_subscription: other.subscription });
    await stripe.subscriptionSchedules.cancel(ended.id);
    await stripe.subscriptionSchedules.list({ customer: other.customer });
  }

  async function useCheckout(customer: string, block: string): Promise<void> {
    const session = await stripe.checkout.sessions.create({
      mode: 'payment',
      customer,
      client_reference_id: 'account',
      line_items: [{ price: block, quantity: 1 }],
      invoice_creation: { enabled: true, invoice_data: { metadata: { blockId: 'b' } } },
      metadata: { blockId: 'b' },
      success_url: 'https://platen.test/dashboard/billing',
      cancel_url: 'https://platen.test/dashboard/billing',
    });
    await stripe.checkout.sessions.listLineItems(session.id, { limit: 10 });
    await stripe.checkout.sessions.list({ customer, status: 'open' });
    await stripe.checkout.sessions.expire(session.id);
    const features: Stripe.BillingPortal.ConfigurationCreateParams.Features = {
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true },
      subscription_cancel: { enabled: true, mode: 'at_period_end' },
      subscription_update: { enabled: false },
    };
    const { id: configuration } = await stripe.billingPortal.configurations.create({ features });
    await stripe.billingPortal.configurations.update(configuration, { active: true, features });
    await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
    await stripe.billingPortal.sessions.create({
      customer,
      configuration,
      return_url: 'https://platen.test/',
    });
  }

  async function usePayments(customer: string): Promise<void> {
    await stripe.customers.update(customer, { metadata: { accountId: 'a' }, email: 'b@example.com' });
    await stripe.customers.retrieve(customer, { expand: ['subscriptions'] });
    await stripe.customers.list({ email: 'b@example.com', limit: 1 });
    const [method] = (await stripe.customers.listPaymentMethods(customer, { type: 'card' })).data;
    await stripe.paymentMethods.list({ customer, type: 'card' });
    await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method!.id } });
    const [charge] = (await stripe.charges.list({ customer })).data;
    await stripe.charges.retrieve(charge!.id);
    const created = { gte: 1, lte: 4_000_000_000 };
    await stripe.charges.list({ customer, created, limit: 100, starting_after: charge!.id });
    const [intent] = (await stripe.paymentIntents.list({ customer })).data;
    await stripe.paymentIntents.retrieve(intent!.id, { expand: ['latest_charge'] });
    const payment = { type: 'payment_intent', payment_intent: String(charge!.payment_intent) } as const;
    const [paid] = (await stripe.invoicePayments.list({ payment })).data;
    await stripe.invoicePayments.retrieve(paid!.id);
    const refund = await stripe.refunds.create({ charge: charge!.id, amount: 100, reason: 'duplicate' });
    await stripe.refunds.retrieve(refund.id);
    await stripe.refunds.list({ charge: charge!.id, limit: 100 });
    const { id } = standIn.acts.dispute(charge!.id);
    await stripe.disputes.retrieve(id);
    await stripe.disputes.list({ charge: charge!.id });
    const [event] = (await stripe.events.list({ type: 'charge.dispute.created' })).data;
    await stripe.events.retrieve(event!.id);
    const types = ['invoice.paid'];
    await stripe.events.list({ delivery_success: false, types, created, starting_after: event!.id });
  }

  for (const { what, path, params } of REJECTED_SINCE_ENDIVE)
    it(`knows what stripe-mock wrongly accepts: ${what}`, async () => {
      assert.equal((await ask(mock.url, { method: 'POST', path, params })).status, 200);
      const response = await standIn.response({
        method: 'POST',
        url: path,
        headers: {
          authorization: `Bearer ${standIn.secretKey}`,
          'stripe-version': '2026-10-28.endive',
        },
        body: qs.stringify(params),
      });
      assert.ok(response !== undefined && response.status >= 400);
    });
});
