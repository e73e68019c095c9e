import { FREE_PLAN, type PlanName } from '../../tenants/plans/plan.ts';
import {
  type CustomerSnapshot,
  decidingInvoices,
  type InvoiceSnapshot,
  type Period,
  type SubscriptionSnapshot,
} from '../stripe/provider-snapshot.ts';

/** How long a subscription whose renewal was not paid keeps its plan, counted from the unpaid period's start. */
const GRACE_MS = 7 * 24 * 3_600_000;
/** Milliseconds after the end of a period at which it is checked again, in case no event reports its renewal. */
const AFTER_PERIOD_MS = 60_000;

/** An account's rights from its subscription: a function of the provider's state and the time alone. */
export interface SubscriptionState {
  /** `none`, or the status of the subscription as the provider calls it. */
  readonly status: string;
  readonly subscriptionId: string | null;
  readonly itemId: string | null;
  readonly priceId: string | null;
  /** The plan that is paid for; null without one, or when the price names no known plan. */
  readonly plan: PlanName | null;
  /** The plan in force. `keep`: the provider's state is not understood, so the plan in force stays. */
  readonly inForce: PlanName | 'keep';
  /** The period whose quota is used; null for the calendar month. */
  readonly quota: Period | null;
  readonly currentPeriod: Period | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly scheduleId: string | null;
  readonly scheduledPlan: PlanName | null;
  readonly scheduledAt: Date | null;
  /** Set while its schedule is half-made (half-made-schedules.ts). */
  readonly halfMadeSince?: Date;
  /** Whether blocks may be bought automatically, without the customer being present. */
  readonly mayBuyByItself: boolean;
  readonly graceEndsAt: Date | null;
  /** Subscriptions other than the one that counts. */
  readonly duplicates: readonly string[];
  /** Open invoices of a subscription that has ended. */
  readonly invoicesToVoid: readonly string[];
  readonly problems: readonly string[];
  /** When time alone changes the outcome, or an event must have been missed. */
  readonly checkAgainAt: Date | null;
}

interface SyncContext {
  readonly now: Date;
  readonly isPlan: (name: string) => boolean;
}

/** Statuses of subscriptions that do not count: to the customer they never began. */
const NOTHING = new Set(['incomplete', 'incomplete_expired']);

const NONE: SubscriptionState = {
  status: 'none',
  subscriptionId: null,
  itemId: null,
  priceId: null,
  plan: null,
  inForce: FREE_PLAN,
  quota: null,
  currentPeriod: null,
  cancelAtPeriodEnd: false,
  scheduleId: null,
  scheduledPlan: null,
  scheduledAt: null,
  mayBuyByItself: false,
  graceEndsAt: null,
  duplicates: [],
  invoicesToVoid: [],
  problems: [],
  checkAgainAt: null,
};

/**
 * Translates a customer's state at the provider. Pure: the same snapshot gives the same outcome whatever events
 * came before, in any order and number.
 *
 *     active                       the price's plan, quota by the item's period
 *     trialing                     the same; nothing is bought automatically
 *     past_due                     the price's plan during the grace, with the rest of the last paid period; then free
 *     unpaid, paused               free
 *     incomplete, …_expired        as if there were no subscription
 *     canceled                     free
 *     any other status or price    the plan in force stays, and an error is reported
 */
export function syncSubscription(customer: CustomerSnapshot, context: SyncContext): SubscriptionState {
  if (customer.deleted) return NONE;
  const reported = customer.subscriptions.filter(({ status }) => !NOTHING.has(status));
  const alive = reported.filter(({ status }) => status !== 'canceled').sort(byAge);
  const [first, ...duplicates] = alive;
  const ended = reported.filter(({ status }) => status === 'canceled');
  const invoices = decidingInvoices(customer);
  const invoicesToVoid = openInvoicesOf(ended, invoices);
  const common = { invoicesToVoid, duplicates: duplicates.map(({ id }) => id) };
  if (first !== undefined) return { ...syncOne(first, invoices, context), ...common };
  const last = ended.sort((a, b) => endOf(b) - endOf(a) || byAge(b, a))[0];
  if (last === undefined) return { ...NONE, ...common };
  return { ...NONE, ...common, status: 'canceled', subscriptionId: last.id };
}

/** The oldest counts: later purchases never change which one that is. */
function byAge(a: SubscriptionSnapshot, b: SubscriptionSnapshot): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

function endOf({ endedAt }: SubscriptionSnapshot): number {
  return endedAt?.getTime() ?? 0;
}

function openInvoicesOf(
  ended: readonly SubscriptionSnapshot[],
  invoices: readonly InvoiceSnapshot[],
): string[] {
  const ids = new Set(ended.map(({ id }) => id));
  return invoices
    .filter(({ status, subscriptionId }) => status === 'open' && ids.has(subscriptionId ?? ''))
    .map(({ id }) => id);
}

function syncOne(
  subscription: SubscriptionSnapshot,
  invoices: readonly InvoiceSnapshot[],
  context: SyncContext,
): SubscriptionState {
  const { status, id, itemId, priceId, period } = subscription;
  const plan =
    subscription.plan !== undefined && context.isPlan(subscription.plan) ? subscription.plan : null;
  const base: SubscriptionState = {
    ...NONE,
    ...scheduled(subscription, context),
    status,
    subscriptionId: id,
    itemId,
    priceId,
    plan,
    currentPeriod: period,
    cancelAtPeriodEnd: subscription.cancelAtPeriodEnd || subscription.cancelAt !== null,
  };
  if (status === 'unpaid' || status === 'paused') return base;
  if (!['active', 'trialing', 'past_due'].includes(status)) return unclear(base, `status ${status}`);
  if (plan === null) return unclear(base, `price ${priceId} names no plan`);
  if (period === null) return unclear(base, 'it has no item');
  if (status === 'past_due') return pastDue({ ...base, plan }, period, subscription.id, invoices, context);
  return {
    ...base,
    inForce: plan,
    quota: period,
    mayBuyByItself: status === 'active' && !subscription.collectionPaused,
    checkAgainAt: later(period.end, AFTER_PERIOD_MS),
  };
}

function pastDue(
  base: SubscriptionState & { plan: PlanName },
  period: Period,
  subscriptionId: string,
  invoices: readonly InvoiceSnapshot[],
  { now }: SyncContext,
): SubscriptionState {
  const graceEndsAt = later(period.start, GRACE_MS);
  if (graceEndsAt <= now) return { ...base, graceEndsAt };
  const { start } = lastPaidPeriod(subscriptionId, invoices) ?? monthBefore(period.start);
  const quota = { start, end: graceEndsAt };
  return { ...base, inForce: base.plan, quota, graceEndsAt, checkAgainAt: graceEndsAt };
}

/** Periods advance whether they are paid or not; only a paid invoice shows which quota was bought. */
function lastPaidPeriod(subscriptionId: string, invoices: readonly InvoiceSnapshot[]): Period | undefined {
  return invoices
    .filter((invoice) => invoice.status === 'paid' && invoice.subscriptionId === subscriptionId)
    .map(({ subscriptionPeriod }) => subscriptionPeriod)
    .filter((period) => period !== null)
    .sort((a, b) => b.start.getTime() - a.start.getTime())[0];
}

function monthBefore(end: Date): Period {
  const start = new Date(end);
  start.setUTCMonth(start.getUTCMonth() - 1);
  // The 31st of a shorter month becomes its last day.
  if (start.getUTCDate() !== end.getUTCDate()) start.setUTCDate(0);
  return { start, end };
}

function scheduled(
  { schedule, plan: current }: SubscriptionSnapshot,
  { now, isPlan }: SyncContext,
): Pick<SubscriptionState, 'scheduleId' | 'scheduledPlan' | 'scheduledAt' | 'halfMadeSince'> {
  if (schedule === null || !['active', 'not_started'].includes(schedule.status)) {
    return { scheduleId: null, scheduledPlan: null, scheduledAt: null };
  }
  const next = schedule.phases.find(({ startsAt }) => startsAt > now);
  const known = next?.plan !== undefined && isPlan(next.plan) && next.plan !== current;
  return {
    scheduleId: schedule.id,
    scheduledPlan: known ? (next.plan ?? null) : null,
    scheduledAt: known ? next.startsAt : null,
    ...(schedule.halfMadeSince && { halfMadeSince: schedule.halfMadeSince }),
  };
}

function unclear(base: SubscriptionState, what: string): SubscriptionState {
  return { ...base, inForce: 'keep', problems: [`subscription ${base.subscriptionId}: ${what}`] };
}

function later(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
