import type { Clock } from '../../../src/infra/clock.ts';
import { missing } from './api-error.ts';
import type * as R from './records.ts';
import type { ApiList } from './records.ts';

/** The version that Platen pins. */
export const API_VERSION = '2026-10-28.endive';

export interface Rules {
  /** What becomes of a subscription whose invoice was not paid however often it was tried. */
  readonly afterRetries: 'cancel' | 'unpaid' | 'past_due';
  /** Seconds from one attempt to charge a renewal to the next. */
  readonly retryAfter: readonly number[];
}

const DAY = 86_400;
export const RULES: Rules = { afterRetries: 'cancel', retryAfter: [3 * DAY, 5 * DAY, 7 * DAY] };

/** What a Stripe account holds, and its time. Every other part of the stand-in works on it. */
export class Books {
  readonly customers = new Map<string, R.Customer>();
  /** Cents that a coupon takes off each invoice: by customer, or by the discount of a subscription. */
  readonly discounts = new Map<string, number>();
  readonly products = new Map<string, R.Product>();
  readonly prices = new Map<string, R.Price>();
  readonly endpoints = new Map<string, R.WebhookEndpoint>();
  readonly paymentMethods = new Map<string, R.PaymentMethod>();
  readonly subscriptions = new Map<string, R.Subscription>();
  readonly schedules = new Map<string, R.Schedule>();
  readonly invoices = new Map<string, R.Invoice>();
  readonly invoicePayments = new Map<string, R.InvoicePayment>();
  readonly intents = new Map<string, R.PaymentIntent>();
  readonly charges = new Map<string, R.Charge>();
  readonly refunds = new Map<string, R.Refund>();
  readonly disputes = new Map<string, R.Dispute>();
  readonly sessions = new Map<string, R.CheckoutSession>();
  readonly sessionLines = new Map<string, readonly { price: string; quantity: number }[]>();
  readonly sessionData = new Map<string, { metadata: R.Metadata; description: string | null }>();
  readonly portalConfigurations = new Map<string, R.PortalConfiguration>();
  readonly portalSessions = new Map<string, R.PortalSession>();
  readonly events = new Map<string, R.StripeEvent>();
  readonly rules: Rules;
  /** Called for every event, when it happens. */
  onEvent: (event: R.StripeEvent) => void = () => undefined;
  /** What an invoice's end means for its subscription. */
  afterInvoice: (invoice: R.Invoice, what: 'paid' | 'failed' | 'void') => void = () => undefined;
  /** The key of the present call. */
  idempotencyKey: string | null = null;
  readonly #clock: Clock;
  #ids = 0;
  /** While what was due is made good, the second at which it was due. */
  #then: number | undefined;

  constructor(clock: Clock, rules: Rules) {
    this.#clock = clock;
    this.rules = rules;
  }

  /** Whole seconds. */
  get now(): number {
    return this.#then ?? this.clockSeconds;
  }

  get clockSeconds(): number {
    return Math.floor(this.#clock.now().getTime() / 1000);
  }

  /** Does something as if it were that second. */
  at(second: number, act: () => void): void {
    this.#then = second;
    try {
      act();
    } finally {
      this.#then = undefined;
    }
  }

  /** A new id; ids rise. */
  id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_test${String(this.#ids).padStart(8, '0')}`;
  }

  row<Name extends string>(prefix: string, object: Name) {
    return { id: this.id(prefix), object, created: this.now, livemode: false as const };
  }

  /** Emits a change; the event holds the object as it is now. */
  emit(type: string, object: { readonly id: string; readonly object: string }): void {
    const event: R.StripeEvent = {
      ...this.row('evt', 'event'),
      type,
      api_version: API_VERSION,
      data: { object: structuredClone(object) },
      request: this.idempotencyKey === null ? null : { id: null, idempotency_key: this.idempotencyKey },
      pending_webhooks: 1,
    };
    this.events.set(event.id, event);
    this.onEvent(event);
  }

  /** The object with an id, for `expand`. */
  byId(id: string): object | undefined {
    const tables: readonly ReadonlyMap<string, object>[] = [
      this.customers,
      this.products,
      this.prices,
      this.paymentMethods,
      this.subscriptions,
      this.schedules,
      this.invoices,
      this.invoicePayments,
      this.intents,
      this.charges,
      this.sessions,
    ];
    return tables.map((table) => table.get(id)).find((found) => found !== undefined);
  }
}

/** @throws ApiFault 404. */
export function take<T>(table: ReadonlyMap<string, T>, id: string, what: string): T {
  const found = table.get(id);
  if (found === undefined) throw missing(what, id);
  return found;
}

export function listOf<T>(data: T[], url: string, hasMore = false): ApiList<T> {
  return { object: 'list', data, has_more: hasMore, url };
}

/** The moment a number of months (or years) later, on the same day or the month's last, as Stripe counts. */
export function periodsAfter(anchor: number, recurring: R.Price['recurring'], count: number): number {
  const months = count * (recurring?.interval_count ?? 1) * (recurring?.interval === 'year' ? 12 : 1);
  const from = new Date(anchor * 1000);
  const at = new Date(from);
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  at.setUTCDate(Math.min(from.getUTCDate(), last));
  return Math.floor(at.getTime() / 1000);
}

/** The end of the period that begins at `start`. */
export function periodEnd(anchor: number, recurring: R.Price['recurring'], start: number): number {
  for (let count = 1; ; count += 1) {
    const end = periodsAfter(anchor, recurring, count);
    if (end > start) return end;
  }
}
