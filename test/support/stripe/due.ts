import type { Books } from './books.ts';
import { periodEnd } from './books.ts';
import { attempt, cardFor, finalize } from './invoice-life.ts';
import type * as R from './records.ts';
import { enterPhase } from './schedule-life.ts';
import { dropPending, end, invoiceFor, itemOf, releaseSchedule, updated } from './subscription-life.ts';

interface Due {
  readonly at: number;
  readonly act: () => void;
}

const HOUR = 3_600;
const FIRST_INVOICE_SECONDS = 23 * HOUR;
const ENDED: readonly string[] = ['canceled', 'incomplete_expired'];

/** Carries out whatever has become due by now, in order. */
export function catchUp(books: Books): void {
  for (;;) {
    const next = dues(books)
      .filter(({ at }) => at <= books.clockSeconds)
      .sort((a, b) => a.at - b.at)[0];
    if (next === undefined) return;
    books.at(next.at, next.act);
  }
}

function dues(books: Books): Due[] {
  return [
    ...[...books.subscriptions.values()].flatMap((each) => duesOfSubscription(books, each)),
    ...[...books.invoices.values()].flatMap((each) => duesOfInvoice(books, each)),
    ...[...books.sessions.values()].flatMap((each) => duesOfSession(books, each)),
  ];
}

function duesOfSubscription(books: Books, subscription: R.Subscription): Due[] {
  if (ENDED.includes(subscription.status)) return [];
  const found: Due[] = [];
  const { current_period_end: periodEnds } = itemOf(subscription);
  const { cancel_at: cancelAt, pending_update: pending } = subscription;
  if (cancelAt !== null && cancelAt < periodEnds)
    found.push({ at: cancelAt, act: () => end(books, subscription, 'canceled') });
  if (pending !== null) found.push({ at: pending.expires_at, act: () => dropPending(books, subscription) });
  if (subscription.status === 'incomplete')
    found.push({ at: subscription.created + FIRST_INVOICE_SECONDS, act: () => expire(books, subscription) });
  else if (subscription.status !== 'paused')
    found.push({ at: periodEnds, act: () => renew(books, subscription) });
  return found;
}

function expire(books: Books, subscription: R.Subscription): void {
  end(books, subscription, 'incomplete_expired');
  const first = books.invoices.get(subscription.latest_invoice ?? '');
  if (first?.status === 'open') Object.assign(first, { status: 'void' });
}

/** The period advances, whether the last one was paid or not; its invoice is charged an hour later. */
function renew(books: Books, subscription: R.Subscription): void {
  const item = itemOf(subscription);
  const start = item.current_period_end;
  const endsNow = subscription.cancel_at_period_end || (subscription.cancel_at ?? Infinity) <= start;
  if (endsNow) {
    end(books, subscription, 'canceled');
    return;
  }
  const trialOver = subscription.status === 'trialing';
  if (trialOver && cardOf(books, subscription) === undefined) {
    subscription.status = 'paused';
    books.emit('customer.subscription.paused', subscription);
    updated(books, subscription);
    return;
  }
  nextPhase(books, subscription, start);
  const period = { start, end: periodEnd(subscription.billing_cycle_anchor, item.price.recurring, start) };
  item.current_period_start = period.start;
  item.current_period_end = period.end;
  if (trialOver) subscription.status = 'active';
  const { price } = item;
  const { quantity } = item;
  const amount = price.unit_amount * quantity;
  const line = { amount, quantity, description: 'Next period', price, item, period };
  const invoice = invoiceFor(books, subscription, 'subscription_cycle', [line]);
  if (subscription.pause_collection !== null) {
    Object.assign(invoice, { status: 'void', auto_advance: false });
    books.emit('invoice.voided', invoice);
  } else if (invoice.auto_advance) invoice.automatically_finalizes_at = start + HOUR;
  updated(books, subscription);
}

function cardOf(books: Books, subscription: R.Subscription): string | undefined {
  const customer = books.customers.get(subscription.customer);
  return (
    subscription.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? undefined
  );
}

function nextPhase(books: Books, subscription: R.Subscription, at: number): void {
  const schedule = subscription.schedule === null ? undefined : books.schedules.get(subscription.schedule);
  if (schedule === undefined) return;
  const phase = schedule.phases.find(({ start_date, end_date }) => start_date <= at && at < end_date);
  if (phase === undefined) {
    releaseSchedule(books, subscription, 'released');
    return;
  }
  enterPhase(books, subscription, phase);
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date };
  books.emit('subscription_schedule.updated', schedule);
}

function duesOfInvoice(books: Books, invoice: R.Invoice): Due[] {
  if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null) {
    const act = () => {
      finalize(books, invoice);
      if (invoice.status === 'open') attempt(books, invoice, cardFor(books, invoice), false);
    };
    return [{ at: invoice.automatically_finalizes_at, act }];
  }
  if (invoice.status !== 'open' || invoice.next_payment_attempt === null) return [];
  const act = () => {
    invoice.next_payment_attempt = null;
    attempt(books, invoice, cardFor(books, invoice), false);
  };
  return [{ at: invoice.next_payment_attempt, act }];
}

function duesOfSession(books: Books, session: R.CheckoutSession): Due[] {
  if (session.status !== 'open') return [];
  const act = () => {
    Object.assign(session, { status: 'expired', url: null });
    books.emit('checkout.session.expired', session);
  };
  return [{ at: session.expires_at, act }];
}
