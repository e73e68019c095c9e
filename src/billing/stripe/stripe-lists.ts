import type Stripe from 'stripe';
import type { Range } from './list-cursors.ts';
import type { InvoiceSnapshot, SubscriptionSnapshot } from './provider-snapshot.ts';
import { idOf, invoiceSnapshot, subscriptionSnapshot } from './stripe-snapshots.ts';

/** The most items that Stripe returns at once. */
export const PAGE = 100;
/** Of one customer, over its whole life. */
const MOST_SUBSCRIPTIONS = 1000;
/** Of one customer, at a time: further invoices are voided after these. */
const MOST_OPEN_INVOICES = 1000;

/** All subscriptions of a customer, in any status. @param more what else Stripe is to expand, besides schedules. */
export async function subscriptionsOf(
  stripe: Stripe,
  customer: string,
  more: readonly 'data.latest_invoice'[] = [],
): Promise<SubscriptionSnapshot[]> {
  const all = await stripe.subscriptions
    .list({ customer, status: 'all', limit: PAGE, expand: ['data.schedule', ...more] })
    .autoPagingToArray({ limit: MOST_SUBSCRIPTIONS });
  return all.map(subscriptionSnapshot);
}

/**
 * The newest invoices of a customer, which as a rule are all. Where there are more, also the older ones that decide
 * something: open ones, and what was paid for subscriptions that owe a renewal.
 */
export async function invoicesOf(
  stripe: Stripe,
  customer: string,
  subscriptions: Promise<readonly SubscriptionSnapshot[]>,
): Promise<{ invoices: InvoiceSnapshot[]; older?: InvoiceSnapshot[] }> {
  const page = await stripe.invoices.list({ customer, limit: PAGE });
  const invoices = page.data.map(invoiceSnapshot);
  if (!page.has_more) return { invoices };
  const owing = (await subscriptions).filter(({ status }) => status === 'past_due');
  const [open, ...paid] = await Promise.all([
    stripe.invoices
      .list({ customer, status: 'open', limit: PAGE })
      .autoPagingToArray({ limit: MOST_OPEN_INVOICES }),
    ...owing.map(async ({ id: subscription }) => {
      return (await stripe.invoices.list({ customer, subscription, status: 'paid', limit: PAGE })).data;
    }),
  ]);
  const newest = new Set(invoices.map(({ id }) => id));
  const older = [...open, ...paid.flat()].filter(({ id }) => !newest.has(id));
  return { invoices, older: older.map(invoiceSnapshot) };
}

/** At most `most` of a customer's invoices of a range, the newest first. */
export async function invoicesIn(
  stripe: Stripe,
  customer: string,
  range: Range,
  most: number,
): Promise<InvoiceSnapshot[]> {
  const list = stripe.invoices.list({ customer, limit: PAGE, ...createdIn(range) });
  return (await list.autoPagingToArray({ limit: most })).map(invoiceSnapshot);
}

/** At most `most` undelivered events of these types, the newest first. */
export function undeliveredIn(
  stripe: Stripe,
  types: readonly string[],
  range: Range,
  most: number,
): Promise<Stripe.Event[]> {
  return stripe.events
    .list({ delivery_success: false, types: [...types], limit: PAGE, ...createdIn(range) })
    .autoPagingToArray({ limit: most });
}

/** Open disputes that began since then; at most `most`, the newest first. */
export async function openDisputesSince(
  stripe: Stripe,
  from: Date,
  most: number,
): Promise<{ customerId: string | null; intentId: string | null }[]> {
  const all = await stripe.disputes
    .list({ limit: PAGE, expand: ['data.charge'], ...createdIn({ from }) })
    .autoPagingToArray({ limit: most });
  return all
    .filter(({ status }) => !['won', 'lost', 'warning_closed', 'prevented'].includes(status))
    .map(({ charge, payment_intent: intent }) => ({
      customerId: typeof charge === 'string' ? null : idOf(charge.customer),
      intentId: idOf(intent),
    }));
}

/** Stripe's times are whole seconds. */
export function createdIn({ from, until }: Range): { created?: Stripe.RangeQueryParam } {
  if (from === undefined && until === undefined) return {};
  return {
    created: {
      ...(from !== undefined && { gte: Math.floor(from.getTime() / 1000) }),
      ...(until !== undefined && { lte: Math.floor(until.getTime() / 1000) }),
    },
  };
}
