import type { Books } from './books.ts';
import { listOf, periodEnd } from './books.ts';
import { attempt, cardFor, createInvoice, finalize, type NewLine, voidInvoice } from './invoice-life.ts';
import type * as R from './records.ts';

export interface NewSubscription {
  readonly customer: string;
  readonly price: R.Price;
  readonly metadata?: R.Metadata;
  readonly description?: string | null;
  readonly default_payment_method?: string | null;
  /** Whole seconds. */
  readonly trialEnd?: number;
}

/** Of a subscription that nothing more comes of. */
export const OVER: readonly string[] = ['canceled', 'incomplete_expired'];
const HOUR = 3_600;
const PENDING_SECONDS = 23 * HOUR;

/** The default terms of a subscription. */
const TERMS = {
  application_fee_percent: null,
  automatic_tax: { enabled: false, liability: null, disabled_reason: null },
  billing_thresholds: null,
  collection_method: 'charge_automatically',
  default_tax_rates: [],
  discounts: [],
  invoice_settings: { account_tax_ids: null, issuer: { type: 'self' } },
  on_behalf_of: null,
  transfer_data: null,
} satisfies Partial<R.Terms>;

/** Makes a subscription, its first invoice with it, which is charged at once. */
export function subscribe(books: Books, made: NewSubscription, present: boolean): R.Subscription {
  const row = books.row('sub', 'subscription');
  const start = books.now;
  const trialing = made.trialEnd !== undefined;
  const end = made.trialEnd ?? periodEnd(start, made.price.recurring, start);
  const item: R.SubscriptionItem = {
    id: books.id('si'),
    object: 'subscription_item',
    created: start,
    subscription: row.id,
    price: made.price,
    quantity: 1,
    current_period_start: start,
    current_period_end: end,
    metadata: {},
    billing_thresholds: null,
    discounts: [],
    tax_rates: [],
  };
  const subscription: R.Subscription = {
    ...row,
    customer: made.customer,
    status: trialing ? 'trialing' : 'incomplete',
    billing_cycle_anchor: made.trialEnd ?? start,
    billing_mode: { type: 'flexible' },
    ...TERMS,
    currency: made.price.currency,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, reason: null },
    default_payment_method: made.default_payment_method ?? null,
    description: made.description ?? null,
    ended_at: null,
    items: listOf([item], `/v1/subscription_items?subscription=${row.id}`),
    latest_invoice: null,
    metadata: made.metadata ?? {},
    pause_collection: null,
    pending_update: null,
    schedule: null,
    start_date: start,
    trial_start: trialing ? start : null,
    trial_end: made.trialEnd ?? null,
  };
  books.subscriptions.set(subscription.id, subscription);
  books.emit('customer.subscription.created', subscription);
  const amount = trialing ? 0 : made.price.unit_amount;
  const invoice = invoiceFor(books, subscription, 'subscription_create', [
    { amount, description: 'First period', price: made.price, item, period: { start, end } },
  ]);
  finalize(books, invoice);
  if (invoice.status === 'open') attempt(books, invoice, cardFor(books, invoice), present);
  return subscription;
}

export function itemOf(subscription: R.Subscription): R.SubscriptionItem {
  return subscription.items.data[0]!;
}

export function invoiceFor(
  books: Books,
  subscription: R.Subscription,
  reason: string,
  lines: readonly NewLine[],
): R.Invoice {
  const { current_period_start: start, current_period_end: end } = itemOf(subscription);
  return createInvoice(
    books,
    {
      customer: subscription.customer,
      currency: subscription.currency,
      billing_reason: reason,
      auto_advance: subscription.status !== 'unpaid',
      subscription,
      period: { start, end },
    },
    lines,
  );
}

export function updated(books: Books, subscription: R.Subscription): void {
  books.emit('customer.subscription.updated', subscription);
}

/** Ends a subscription now. Invoices that are open stay open, but are charged no more. */
export function end(
  books: Books,
  subscription: R.Subscription,
  status: 'canceled' | 'incomplete_expired',
  reason: R.Subscription['cancellation_details']['reason'] = 'cancellation_requested',
) {
  Object.assign(subscription, {
    status,
    ended_at: books.now,
    canceled_at: subscription.canceled_at ?? books.now,
  });
  subscription.cancellation_details.reason = reason;
  subscription.pending_update = null;
  releaseSchedule(books, subscription, 'canceled');
  for (const invoice of books.invoices.values()) {
    if (invoice.parent?.subscription_details.subscription !== subscription.id) continue;
    Object.assign(invoice, {
      auto_advance: false,
      next_payment_attempt: null,
      automatically_finalizes_at: null,
    });
  }
  books.emit('customer.subscription.deleted', subscription);
}

export function releaseSchedule(
  books: Books,
  subscription: R.Subscription,
  status: 'released' | 'canceled' | 'completed',
): void {
  const schedule = subscription.schedule === null ? undefined : books.schedules.get(subscription.schedule);
  if (schedule?.status !== 'active') return;
  Object.assign(schedule, { status, current_phase: null, [`${status}_at`]: books.now });
  if (status === 'released')
    Object.assign(schedule, { released_subscription: subscription.id, subscription: null });
  subscription.schedule = null;
  books.emit(`subscription_schedule.${status}`, schedule);
}

/** What a change of price now costs for the rest of the period: what was not used of the old, and the new. */
export function prorations(item: R.SubscriptionItem, price: R.Price, at: number): readonly NewLine[] {
  const { current_period_start: start, current_period_end: end } = item;
  const share = (end - at) / (end - start);
  const period = { start: at, end };
  const old = item.price;
  return [
    {
      amount: -Math.round(old.unit_amount * share),
      description: 'Unused time',
      price: old,
      item,
      period,
      proration: true,
    },
    {
      amount: Math.round(price.unit_amount * share),
      description: 'Remaining time',
      price,
      item,
      period,
      proration: true,
    },
  ];
}

/** Changes the price at once. With `ifPaid` the change waits for its invoice to be paid, 23 hours at most. */
export function changePrice(
  books: Books,
  subscription: R.Subscription,
  price: R.Price,
  { at, invoiceNow, ifPaid }: { at: number; invoiceNow: boolean; ifPaid: boolean },
): void {
  const item = itemOf(subscription);
  if (!invoiceNow) {
    item.price = price;
    return;
  }
  const lines = prorations(item, price, at);
  if (!ifPaid) item.price = price;
  const invoice = invoiceFor(books, subscription, 'subscription_update', lines);
  if (ifPaid)
    subscription.pending_update = {
      expires_at: books.now + PENDING_SECONDS,
      subscription_items: [{ ...item, price }],
    };
  finalize(books, invoice);
  if (invoice.status === 'open') attempt(books, invoice, cardFor(books, invoice), false);
}

/** What the end of an invoice means for its subscription. */
export function afterInvoice(books: Books, invoice: R.Invoice, what: 'paid' | 'failed' | 'void'): void {
  const id = invoice.parent?.subscription_details.subscription;
  const subscription = id === undefined ? undefined : books.subscriptions.get(id);
  if (subscription === undefined || ['canceled', 'incomplete_expired'].includes(subscription.status)) return;
  if (invoice.billing_reason === 'subscription_update' && subscription.pending_update !== null) {
    if (what === 'paid') applyPending(books, subscription);
    if (what === 'void') dropPending(books, subscription);
    return;
  }
  if (subscription.latest_invoice !== invoice.id) return;
  if (what === 'paid') revive(books, subscription);
  if (what === 'failed') fallBehind(books, subscription, invoice);
}

function applyPending(books: Books, subscription: R.Subscription): void {
  itemOf(subscription).price = subscription.pending_update!.subscription_items[0]!.price;
  subscription.pending_update = null;
  books.emit('customer.subscription.pending_update_applied', subscription);
  updated(books, subscription);
}

export function dropPending(books: Books, subscription: R.Subscription): void {
  subscription.pending_update = null;
  books.emit('customer.subscription.pending_update_expired', subscription);
  const open = books.invoices.get(subscription.latest_invoice ?? '');
  if (open?.status === 'open' && open.billing_reason === 'subscription_update') voidInvoice(books, open);
}

function revive(books: Books, subscription: R.Subscription): void {
  if (!['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) return;
  subscription.status = 'active';
  updated(books, subscription);
}

function fallBehind(books: Books, subscription: R.Subscription, invoice: R.Invoice): void {
  if (invoice.billing_reason === 'subscription_create') return;
  const { retryAfter, afterRetries } = books.rules;
  const wait = retryAfter[invoice.attempt_count - 1];
  if (wait !== undefined && invoice.auto_advance) invoice.next_payment_attempt = books.now + wait;
  else invoice.next_payment_attempt = null;
  const next = wait === undefined ? afterRetries : 'past_due';
  if (next === 'cancel') end(books, subscription, 'canceled', 'payment_failed');
  else if (subscription.status !== next) {
    subscription.status = next;
    updated(books, subscription);
  }
}
