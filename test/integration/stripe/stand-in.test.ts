import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { TestClock } from '../../support/domain.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { makePrices, makeSubscriber } from './life-cycle.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe('The stand-in of Stripe', () => {
  let clock: TestClock;
  let standIn: StripeStandIn;
  let stripe: Stripe;
  let prices: Awaited<ReturnType<typeof makePrices>>;

  beforeEach(async () => {
    clock = new TestClock();
    standIn = new StripeStandIn({ clock });
    stripe = standIn.client({ maxNetworkRetries: 0 });
    prices = await makePrices(stripe);
  });

  function types(): string[] {
    return [...standIn.books.events.values()].map(({ type }) => type);
  }

  /** Past the end of the period, and past the hour after which the invoice is charged. */
  function passRenewal(): void {
    clock.pass(31 * DAY_MS + 2 * HOUR_MS);
    standIn.catchUp();
  }

  async function overageInvoice(customer: string): Promise<Stripe.Invoice> {
    const { id } = await stripe.invoices.create({
      customer,
      auto_advance: false,
      metadata: { blockId: 'b' },
    });
    await stripe.invoices.addLines(id, { lines: [{ pricing: { price: prices.block }, quantity: 1 }] });
    return stripe.invoices.finalizeInvoice(id, { auto_advance: false });
  }

  const cardOf = async (subscription: string) =>
    String((await stripe.subscriptions.retrieve(subscription)).default_payment_method);

  describe('idempotency', () => {
    it('carries out concurrent calls with one key once, and gives all of them the same response', async () => {
      const call = () => stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey: 'k' });
      const made = await Promise.all([call(), call(), call()]);
      assert.equal(new Set(made.map(({ id }) => id)).size, 1);
      assert.equal(standIn.books.customers.size, 1);
    });

    it('rejects a key with other parameters', async () => {
      await stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey: 'k' });
      await assert.rejects(
        stripe.customers.create({ email: 'b@example.com' }, { idempotencyKey: 'k' }),
        Stripe.errors.StripeIdempotencyError,
      );
    });

    it('forgets a key after a day', async () => {
      const call = () => stripe.customers.create({}, { idempotencyKey: 'k' });
      const first = await call();
      clock.pass(DAY_MS - HOUR_MS);
      assert.equal((await call()).id, first.id);
      clock.pass(2 * HOUR_MS);
      assert.notEqual((await call()).id, first.id);
    });

    it('gives the same decline again, though the card would be charged by now', async () => {
      const { customer } = await makeSubscriber(standIn, stripe, prices.starter);
      const { id } = await overageInvoice(customer);
      const declining = standIn.acts.changeCard(customer, 'declined').id;
      const pay = (key: string, payment_method: string) =>
        stripe.invoices.pay(id, { off_session: true, payment_method }, { idempotencyKey: key });
      await assert.rejects(pay('k', declining), { code: 'card_declined' });
      await assert.rejects(pay('k', declining), { code: 'card_declined' });
      assert.equal((await stripe.invoices.retrieve(id)).attempt_count, 1);
      const good = standIn.acts.changeCard(customer, 'good').id;
      assert.equal((await pay('other', good)).status, 'paid');
    });

    it('gives the same failure again', async () => {
      standIn.problemOf = ({ route }) => (route === '/v1/customers' ? 'failed' : undefined);
      const call = () => stripe.customers.create({}, { idempotencyKey: 'k' });
      await assert.rejects(call(), { statusCode: 500 });
      standIn.problemOf = () => undefined;
      await assert.rejects(call(), { statusCode: 500 });
      assert.equal(standIn.books.customers.size, 0);
    });

    it('has carried out a call whose response was lost, and repeats the response for its key', async () => {
      standIn.problemOf = () => 'lost';
      const call = () => stripe.customers.create({}, { idempotencyKey: 'k' });
      await assert.rejects(call(), Stripe.errors.StripeConnectionError);
      standIn.problemOf = () => undefined;
      assert.equal(standIn.books.customers.has((await call()).id), true);
      assert.equal(standIn.books.customers.size, 1);
    });

    it('rejects a call before its key is noted', async () => {
      standIn.problemOf = () => 'busy';
      const call = () => stripe.customers.create({}, { idempotencyKey: 'k' });
      await assert.rejects(call(), Stripe.errors.StripeRateLimitError);
      standIn.problemOf = () => undefined;
      assert.equal(standIn.books.customers.has((await call()).id), true);
    });
  });

  describe('requests', () => {
    it('rejects parameters that it does not model, and then does nothing', async () => {
      const call = stripe.rawRequest('POST', '/v1/customers', { email: 'a@example.com', balance: 5 });
      await assert.rejects(call, { code: 'parameter_unknown' });
      assert.equal(standIn.books.customers.size, 0);
    });

    it('rejects another version, another key and other routes', async () => {
      const client = (key: string, apiVersion?: string) =>
        new Stripe(key, {
          httpClient: standIn.httpClient(),
          ...(apiVersion && { apiVersion: '2025-01-27.acacia' as typeof Stripe.API_VERSION }),
        });
      await assert.rejects(client('sk_test_other').customers.list(), { statusCode: 401 });
      await assert.rejects(client(standIn.secretKey, 'old').customers.list(), { statusCode: 400 });
      await assert.rejects(stripe.coupons.list(), { statusCode: 404 });
    });
  });

  describe('subscriptions', () => {
    it('are made when Checkout is paid, and stay open when the card is declined', async () => {
      const { id: customer } = await stripe.customers.create({});
      const session = await stripe.checkout.sessions.create({
        mode: 'subscription',
        customer,
        line_items: [{ price: prices.starter, quantity: 1 }],
        success_url: 'https://platen.test/',
      });
      assert.equal(standIn.acts.completeCheckout(session.id, 'declined'), 'declined');
      assert.equal(standIn.books.subscriptions.size, 0);
      standIn.acts.completeCheckout(session.id);
      const [subscription] = (await stripe.subscriptions.list({ customer })).data;
      assert.equal(subscription?.status, 'active');
      assert.equal(types().at(-1), 'checkout.session.completed');
      assert.throws(() => standIn.acts.completeCheckout(session.id));
    });

    it('are active in a period that is charged an hour later', async () => {
      const { subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      const before = (await stripe.subscriptions.retrieve(subscription)).items.data[0]!;
      clock.pass(before.current_period_end * 1000 - clock.now().getTime() + 60_000);
      const renewed = await stripe.subscriptions.retrieve(subscription, { expand: ['latest_invoice'] });
      assert.equal(renewed.status, 'active');
      assert.equal(renewed.items.data[0]!.current_period_start, before.current_period_end);
      assert.equal((renewed.latest_invoice as Stripe.Invoice).status, 'draft');
      clock.pass(HOUR_MS);
      const charged = await stripe.subscriptions.retrieve(subscription, { expand: ['latest_invoice'] });
      assert.equal((charged.latest_invoice as Stripe.Invoice).status, 'paid');
    });

    it('fall behind when the card is declined, and end after the last attempt', async () => {
      const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      standIn.acts.changeCard(customer, 'declined');
      passRenewal();
      assert.equal((await stripe.subscriptions.retrieve(subscription)).status, 'past_due');
      clock.pass(16 * DAY_MS);
      const ended = await stripe.subscriptions.retrieve(subscription);
      assert.equal(ended.status, 'canceled');
      assert.equal((await stripe.subscriptions.list({ customer })).data.length, 0);
      assert.equal((await stripe.invoices.list({ customer, status: 'open' })).data.length, 1);
    });

    it('are active again when another card is charged', async () => {
      const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      standIn.acts.changeCard(customer, 'declined');
      passRenewal();
      standIn.acts.changeCard(customer, 'good');
      clock.pass(4 * DAY_MS);
      assert.equal((await stripe.subscriptions.retrieve(subscription)).status, 'active');
    });

    it('change their price with an invoice for the rest of the period', async () => {
      const { subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      const [item] = (await stripe.subscriptions.retrieve(subscription)).items.data;
      const half = (item!.current_period_start + item!.current_period_end) / 2;
      clock.pass(half * 1000 - clock.now().getTime());
      const preview = await stripe.invoices.createPreview({
        subscription,
        subscription_details: {
          items: [{ id: item!.id, price: prices.professional }],
          proration_behavior: 'always_invoice',
          proration_date: half,
        },
      });
      assert.equal(preview.amount_due, 3_000);
      const changed = await stripe.subscriptions.update(subscription, {
        items: [{ id: item!.id, price: prices.professional }],
        proration_behavior: 'always_invoice',
        payment_behavior: 'pending_if_incomplete',
        proration_date: half,
        expand: ['latest_invoice'],
      });
      assert.equal(changed.items.data[0]!.price.id, prices.professional);
      assert.equal((changed.latest_invoice as Stripe.Invoice).amount_paid, 3_000);
    });

    it('delay a change until the bank has confirmed, for at most 23 hours', async () => {
      const { subscription } = await makeSubscriber(standIn, stripe, prices.starter, 'authenticates');
      const [item] = (await stripe.subscriptions.retrieve(subscription)).items.data;
      const upgrade = () =>
        stripe.subscriptions.update(subscription, {
          items: [{ id: item!.id, price: prices.professional }],
          proration_behavior: 'always_invoice',
          payment_behavior: 'pending_if_incomplete',
        });
      const pending = await upgrade();
      assert.equal(pending.items.data[0]!.price.id, prices.starter);
      assert.ok(pending.pending_update);
      clock.pass(24 * HOUR_MS);
      const dropped = await stripe.subscriptions.retrieve(subscription, { expand: ['latest_invoice'] });
      assert.equal(dropped.pending_update, null);
      assert.equal((dropped.latest_invoice as Stripe.Invoice).status, 'void');
      const again = await upgrade();
      standIn.acts.payHostedInvoice(String(again.latest_invoice));
      const applied = await stripe.subscriptions.retrieve(subscription);
      assert.equal(applied.items.data[0]!.price.id, prices.professional);
      assert.ok(types().includes('customer.subscription.pending_update_applied'));
    });

    it('are cancelled in the portal by cancel_at alone', async () => {
      const { subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      standIn.acts.cancelInPortal(subscription);
      const reported = await stripe.subscriptions.retrieve(subscription);
      assert.equal(reported.cancel_at_period_end, false);
      assert.equal(reported.cancel_at, reported.items.data[0]!.current_period_end);
      passRenewal();
      assert.equal((await stripe.subscriptions.retrieve(subscription)).status, 'canceled');
    });

    it('are moved to another price at the end of the period by a schedule, and are then released', async () => {
      const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.professional);
      const { id, phases } = await stripe.subscriptionSchedules.create({ from_subscription: subscription });
      const [current] = phases;
      // A phase that names no card leaves it to the customer's.
      standIn.acts.changeCard(customer, 'good');
      standIn.acts.alter(subscription, { discounts: ['di_1'] });
      await stripe.subscriptionSchedules.update(id, {
        end_behavior: 'release',
        phases: [
          {
            items: [{ price: prices.professional, quantity: 1 }],
            start_date: current!.start_date,
            end_date: current!.end_date,
          },
          { items: [{ price: prices.starter, quantity: 1 }], duration: { interval: 'month' } },
        ],
      });
      await assert.rejects(stripe.subscriptions.update(subscription, { cancel_at_period_end: true }));
      const changed = await stripe.subscriptions.retrieve(subscription);
      assert.deepEqual(
        [changed.discounts, changed.default_payment_method],
        [[], null],
        'phases are replaced',
      );
      passRenewal();
      const moved = await stripe.subscriptions.retrieve(subscription);
      assert.equal(moved.items.data[0]!.price.id, prices.starter);
      assert.equal(moved.schedule, id);
      passRenewal();
      assert.equal((await stripe.subscriptions.retrieve(subscription)).schedule, null);
      assert.equal((await stripe.subscriptionSchedules.retrieve(id)).status, 'released');
    });

    it('end with their customer', async () => {
      const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      await stripe.customers.del(customer);
      assert.equal((await stripe.subscriptions.retrieve(subscription)).status, 'canceled');
      assert.equal((await stripe.customers.retrieve(customer)).deleted, true);
    });
  });

  describe('invoices', () => {
    it('of a block are not charged to the card of a subscription unless it is named', async () => {
      const { customer, subscription } = await makeSubscriber(standIn, stripe, prices.starter);
      const { id } = await overageInvoice(customer);
      await assert.rejects(stripe.invoices.pay(id, { off_session: true }), /default_payment_method/);
      const paid = await stripe.invoices.pay(id, {
        off_session: true,
        payment_method: await cardOf(subscription),
        expand: ['payments.data.payment.payment_intent'],
      });
      const payment = paid.payments!.data[0]!.payment.payment_intent as Stripe.PaymentIntent;
      assert.deepEqual([paid.status, payment.status, payment.amount_received], ['paid', 'succeeded', 1_000]);
    });

    it('can be paid on their page when the bank wants to see the customer', async () => {
      const { customer, subscription } = await makeSubscriber(
        standIn,
        stripe,
        prices.starter,
        'authenticates',
      );
      const { id } = await overageInvoice(customer);
      const payment_method = await cardOf(subscription);
      await assert.rejects(stripe.invoices.pay(id, { off_session: true, payment_method }), {
        code: 'invoice_payment_intent_requires_action',
      });
      assert.equal((await stripe.invoices.retrieve(id)).status, 'open');
      standIn.acts.payHostedInvoice(id);
      await assert.rejects(stripe.invoices.voidInvoice(id));
      assert.equal((await stripe.invoices.retrieve(id)).status, 'paid');
    });

    it('are void for good', async () => {
      const { customer } = await makeSubscriber(standIn, stripe, prices.starter);
      const { id } = await overageInvoice(customer);
      await stripe.invoices.voidInvoice(id);
      await assert.rejects(stripe.invoices.pay(id));
      assert.throws(() => standIn.acts.payHostedInvoice(id));
    });

    it('are listed page by page, the newest first', async () => {
      const { customer } = await makeSubscriber(standIn, stripe, prices.starter);
      const made = [];
      for (let count = 0; count < 5; count += 1) made.unshift((await overageInvoice(customer)).id);
      const found: string[] = [];
      for await (const { id } of stripe.invoices.list({ customer, limit: 2 })) found.push(id);
      assert.deepEqual(found.slice(0, 5), made);
      assert.equal(found.length, 6);
    });
  });

  it('refunds once', async () => {
    const { customer } = await makeSubscriber(standIn, stripe, prices.starter);
    const [charge] = (await stripe.charges.list({ customer })).data;
    await stripe.refunds.create({ charge: charge!.id, amount: 900 });
    await stripe.refunds.create({ charge: charge!.id });
    assert.equal((await stripe.charges.retrieve(charge!.id)).amount_refunded, 1_900);
    await assert.rejects(stripe.refunds.create({ charge: charge!.id }), { code: 'charge_already_refunded' });
  });

  it('responds over HTTP, and breaks the connection where a response is lost', async () => {
    const base = new URL(await standIn.listen());
    const client = new Stripe(standIn.secretKey, {
      host: base.hostname,
      port: base.port,
      protocol: 'http',
      maxNetworkRetries: 0,
    });
    try {
      assert.equal((await client.customers.create({ email: 'a@example.com' })).email, 'a@example.com');
      standIn.problemOf = () => 'lost';
      await assert.rejects(client.customers.create({}), Stripe.errors.StripeConnectionError);
    } finally {
      await standIn.close();
    }
  });
});
