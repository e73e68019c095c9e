import type Stripe from 'stripe';
import type { InvoiceSnapshot, Period, ScheduleSnapshot, SubscriptionSnapshot } from './provider-snapshot.ts';

/** Our metadata at Stripe, for people in its dashboard: our own database has the account of each customer. */
export const METADATA = {
  /** On prices and on the phases of schedules: the plan. */
  plan: 'platen_plan',
  /** On prices: PDFs of a block. */
  block: 'platen_block_size',
  /** On invoices and payments: the block that they are for. */
  blockId: 'blockId',
  account: 'platen_account',
} as const;

export function subscriptionSnapshot(subscription: Stripe.Subscription): SubscriptionSnapshot {
  const item = subscription.items.data[0];
  return {
    id: subscription.id,
    status: subscription.status,
    createdAt: date(subscription.created),
    endedAt: dateOrNull(subscription.ended_at),
    endedUnpaid: subscription.cancellation_details?.reason === 'payment_failed',
    cancelAt: dateOrNull(subscription.cancel_at),
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    collectionPaused: subscription.pause_collection !== null,
    itemId: item?.id ?? null,
    priceId: item?.price.id ?? null,
    plan: item?.price.metadata[METADATA.plan],
    period:
      item === undefined
        ? null
        : { start: date(item.current_period_start), end: date(item.current_period_end) },
    schedule: scheduleSnapshot(subscription.schedule),
    ...waitingChange(subscription),
  };
}

function waitingChange({
  pending_update: pending,
  latest_invoice: invoice,
}: Stripe.Subscription): Pick<SubscriptionSnapshot, 'waiting'> {
  if (pending === null || invoice === null || typeof invoice === 'string') return {};
  return {
    waiting: {
      priceId: pending.subscription_items?.[0]?.price.id,
      invoiceId: invoice.id,
      url: invoice.hosted_invoice_url ?? undefined,
    },
  };
}

/** Of a schedule that was not expanded only its id is known. */
export function scheduleSnapshot(schedule: Stripe.Subscription['schedule']): ScheduleSnapshot | null {
  if (schedule === null) return null;
  if (typeof schedule === 'string') return { id: schedule, status: 'active', phases: [] };
  const { id, status, created } = schedule;
  const phases = schedule.phases.map(({ start_date, metadata }) => ({
    startsAt: date(start_date),
    plan: metadata?.[METADATA.plan],
  }));
  return { id, status, phases, ...(isHalfMade(schedule) && { halfMadeSince: date(created) }) };
}

/** Our schedules are so between the two calls that make them; an operator's schedule in this state does nothing. */
function isHalfMade({ status, phases, end_behavior: atEnd }: Stripe.SubscriptionSchedule): boolean {
  const runs = status === 'active' || status === 'not_started';
  const [only, ...others] = phases;
  return runs && atEnd === 'release' && others.length === 0 && only?.metadata?.[METADATA.plan] === undefined;
}

export function invoiceSnapshot(invoice: Stripe.Invoice): InvoiceSnapshot {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status ?? 'draft',
    currency: invoice.currency,
    amountDueCents: invoice.amount_due,
    amountPaidCents: invoice.amount_paid,
    createdAt: date(invoice.created),
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    pdfUrl: invoice.invoice_pdf ?? null,
    subscriptionId: idOf(invoice.parent?.subscription_details?.subscription),
    blockId: invoice.metadata?.[METADATA.blockId] ?? null,
    subscriptionPeriod: subscriptionPeriodOf(invoice),
  };
}

/** Prorations pay for parts of a period, and do not show whether the period itself is paid. */
function subscriptionPeriodOf({ lines }: Stripe.Invoice): Period | null {
  const periods = lines.data
    .filter(({ parent }) => parent?.subscription_item_details?.proration === false)
    .map(({ period }) => ({ start: date(period.start), end: date(period.end) }))
    .sort((a, b) => b.end.getTime() - a.end.getTime());
  return periods[0] ?? null;
}

/** The id of a reference, which Stripe gives as an id or as the whole object. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string | null {
  if (reference === null || reference === undefined) return null;
  return typeof reference === 'string' ? reference : reference.id;
}

export function date(unixSeconds: number): Date {
  return new Date(unixSeconds * 1000);
}

function dateOrNull(unixSeconds: number | null): Date | null {
  return unixSeconds === null ? null : date(unixSeconds);
}
