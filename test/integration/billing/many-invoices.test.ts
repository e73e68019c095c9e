import assert from 'node:assert/strict';
import { syncSubscription } from '../../../src/billing/subscriptions/entitlement.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { charge, newIntent, saveCard } from '../../support/stripe/cards.ts';
import { FAIR } from '../../support/stripe/deliverer.ts';
import { addLine, createInvoice, finalize, settle } from '../../support/stripe/invoice-life.ts';
import type * as R from '../../support/stripe/records.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;
/** More than one pass reads. */
const MANY = 1_150;
const A_PASS = 500;

describe('Customers with more than one page of everything', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
    life.standIn.onResponse = ({ method, route }, { body }) => {
      const { data } = body as { data?: readonly object[] };
      if (method === 'GET' && data !== undefined) handed.set(route, (handed.get(route) ?? 0) + data.length);
    };
  });
  afterEach(() => life?.end());

  /** Items that Stripe has handed out, by route. */
  const handed = new Map<string, number>();

  /** One pass: a check of the customer. @returns how many items of a route it has read. */
  async function pass(route: string): Promise<number> {
    handed.clear();
    assert.equal(await life.selling.sync.sweep(), 1);
    return handed.get(route) ?? 0;
  }
  async function passes(route: string): Promise<number[]> {
    const counts: number[] = [];
    while ((await life.billing.store.due(1)).length > 0) counts.push(await pass(route));
    return counts;
  }
  const wake = () => life.billing.store.wantAccount(life.accountId, 'asked');

  /** Invoices without a subscription, a minute apart, without events. */
  function invoices(count: number, become: 'paid' | 'open' | 'draft' = 'paid'): R.Invoice[] {
    const { standIn, customerId: customer, clock, deliverer } = life;
    deliverer.weather = { ...FAIR, dropped: 1 };
    const made = Array.from({ length: count }, () => {
      clock.pass(60_000);
      const { books } = standIn;
      const common = { customer, currency: 'usd', billing_reason: 'manual', auto_advance: false };
      const invoice = createInvoice(books, common);
      addLine(books, invoice, { amount: 500, description: 'Item' });
      if (become !== 'draft') finalize(books, invoice);
      if (become === 'paid') settle(books, invoice, undefined);
      return invoice;
    });
    deliverer.weather = FAIR;
    return made;
  }
  const first = (status?: string) => {
    const query = { sort: 'created_asc', limit: 1, offset: 0 } as const;
    return life.billing.mirror.list(life.accountId, { ...query, status });
  };
  const copied = async (status?: string) => (await first(status)).total;
  const events = () => [...life.standIn.books.events.values()];

  it('have all their invoices copied, each once, in bounded passes', async () => {
    invoices(MANY);
    await wake();
    const counts = await passes('/v1/invoices');
    assert.ok(counts.length > 1);
    for (const count of counts) assert.ok(count <= 100 + 2 * A_PASS, String(counts));
    assert.equal(await copied(), MANY);
    // Everything once, the newest page at each check, and the ends of passes.
    const most = MANY + counts.length * (100 + 2 * 100);
    assert.ok(counts.reduce((sum, count) => sum + count, 0) <= most, String(counts));
    await wake();
    const [again] = await passes('/v1/invoices');
    assert.ok(again! <= 101, `${again} are read when nothing is new`);
  });

  it('have invoices copied that came in large numbers between two checks', async () => {
    invoices(MANY);
    await wake();
    await pass('/v1/invoices');
    invoices(700);
    await wake();
    await pass('/v1/invoices');
    invoices(300);
    await passes('/v1/invoices');
    assert.equal(await copied(), MANY + 1_000);
    invoices(250);
    await wake();
    const counts = await passes('/v1/invoices');
    assert.equal(await copied(), MANY + 1_250);
    assert.ok(counts.reduce((sum, count) => sum + count, 0) <= 100 + 300, String(counts));
  });

  it('have old invoices followed until they are final', async () => {
    const { standIn, customerId } = life;
    const [paid, void_] = invoices(2, 'open');
    const [deleted, kept] = invoices(2, 'draft');
    const others = invoices(30, 'open');
    for (const { id } of others) standIn.books.invoices.get(id)!.status = 'uncollectible';
    invoices(200);
    await wake();
    await passes('/v1/invoices');
    assert.deepEqual([await copied('open'), await copied('draft')], [2, 2]);
    standIn.acts.payOutOfBand(paid!.id);
    const { stripe } = life.selling.gateway;
    await stripe.invoices.voidInvoice(void_!.id);
    await stripe.invoices.del(deleted!.id);
    // One by one: over more than one check.
    for (let check = 0; check < 3; check += 1) {
      await life.billing.store.want(customerId, 'invoice.paid');
      await passes('/v1/invoices');
    }
    assert.deepEqual([await copied('open'), await copied('draft'), await copied('void')], [0, 1, 1]);
    assert.equal((await first('draft')).invoices[0]?._id, kept!.id);
  });

  it('keep the rest of their last paid period, and owe nothing for ended subscriptions', async () => {
    const { standIn, selling, clock, accountId } = life;
    await selling.subscriptions.checkout(accountId, 'starter');
    const page = [...standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await wake();
    await passes('');
    const paid = (await rig.accounts.find(accountId))!.quotaWindow!;
    standIn.acts.changeCard(life.customerId, 'declined');
    clock.pass(29 * DAY_MS);
    const before = invoices(130);
    clock.pass(paid.end.getTime() - clock.now().getTime() + DAY_MS / 2);
    standIn.catchUp();
    invoices(130);
    await wake();
    await passes('');
    const subscription = [...standIn.books.subscriptions.values()][0]!;
    assert.equal(subscription.status, 'past_due');
    const now = (await rig.accounts.find(accountId))!.quotaWindow!;
    assert.deepEqual(now.start, paid.start, 'the period that was paid, behind hundreds of invoices');
    assert.ok(before.length > 100);
    // It ends with an invoice open, which is void then, though it is far back.
    await selling.gateway.stripe.subscriptions.cancel(subscription.id, {
      invoice_now: false,
      prorate: false,
    });
    await wake();
    await passes('');
    const open = [...standIn.books.invoices.values()].filter(({ status }) => status === 'open');
    assert.deepEqual(open, []);
    const customer = await selling.gateway.customer(life.customerId);
    const fresh = syncSubscription(customer, { now: clock.now(), isPlan: (name) => rig.plans.has(name) });
    assert.deepEqual(fresh.invoicesToVoid, []);
  });

  it('have blocks followed whose payment is older than hundreds of others', async () => {
    const { standIn, selling, accountId, customerId, clock, billing } = life;
    await selling.blockCheckouts.buy(accountId, 1000);
    const page = [...standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await billing.blocks.wake(accountId);
    await selling.blockPurchases.sweep();
    const left = () => billing.blockLedger.left(accountId, quotaPeriod(clock.now()), 0);
    assert.equal(await left(), 1000);
    const [blocks] = [...standIn.books.charges.values()];
    const { id: method } = saveCard(standIn.books, customerId, 'good', true);
    for (let i = 0; i < MANY; i += 1) {
      clock.pass(1_000);
      charge(
        standIn.books,
        newIntent(standIn.books, { customer: customerId, amount: 1, currency: 'usd' }),
        method,
        true,
      );
    }
    const { id } = await selling.gateway.stripe.refunds.create({ charge: blocks!.id });
    await wake();
    const counts = await passes('/v1/charges');
    assert.equal(counts.length, 3);
    for (const count of counts) assert.ok(count <= A_PASS, String(counts));
    assert.equal(await left(), 0);
    // An event comes in the middle of a round: what was checked before is checked again.
    await wake();
    await pass('/v1/charges');
    const newest = [...standIn.books.charges.values()].at(-1)!;
    await selling.blockCheckouts.buy(accountId, 1000);
    const second = [...standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(second.id);
    await billing.blocks.wake(accountId);
    await selling.blockPurchases.sweep();
    assert.equal(await left(), 1000);
    const blockBalance = [...standIn.books.charges.values()].at(-1)!;
    assert.notEqual(blockBalance.id, newest.id);
    await selling.gateway.stripe.refunds.create({ charge: blockBalance.id });
    standIn.acts.failRefund(id, { events: [] });
    await wake();
    await passes('/v1/charges');
    assert.equal(await left(), 1000, 'the old one is back, and the new one is gone');
  });

  it('have all undelivered events found, each once, in bounded passes', async () => {
    const { selling, standIn } = life;
    invoices(600);
    const missed = events().filter(({ pending_webhooks: pending }) => pending > 0).length;
    assert.ok(missed > 1_500, String(missed));
    let found = 0;
    let runs = 0;
    for (; runs < 20; runs += 1) {
      handed.clear();
      const now = await selling.reconcile.events();
      assert.ok(handed.get('/v1/events')! <= 2 * 2_000);
      found += now;
      if (now === 0) break;
    }
    assert.ok(runs > 1, 'more than one pass');
    assert.equal(found, missed);
    assert.ok(handed.get('/v1/events')! <= 20, `${handed.get('/v1/events')} are read when nothing is new`);
    invoices(1);
    const later = events().filter(({ pending_webhooks: pending }) => pending > 0).length - missed;
    assert.equal(await selling.reconcile.events(), later);
    assert.ok(standIn.books.events.size > missed);
  });
});
