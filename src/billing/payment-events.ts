import type { Connection } from 'mongoose';
import type Stripe from 'stripe';
import { backoffMs } from '../async/backoff.ts';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { BillingStore } from './billing-store.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { idOf } from './stripe-snapshots.ts';

/** What events are about that can change what an account has; the endpoint is told to send no others. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'customer.updated',
  'customer.deleted',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'customer.subscription.trial_will_end',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
  'subscription_schedule.completed',
  'subscription_schedule.aborted',
  'invoice.created',
  'invoice.updated',
  'invoice.finalized',
  'invoice.finalization_failed',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
  'invoice.deleted',
  'invoice_payment.paid',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const satisfies readonly Stripe.WebhookEndpointCreateParams.EnabledEvent[];
/** Names under which the same is told to endpoints that were not made by `platen billing setup`. */
const OLDER_NAMES = ['charge.refunded', 'charge.refund.updated'];
const KNOWN: ReadonlySet<string> = new Set([...EVENT_TYPES, ...OLDER_NAMES]);

/** Of something whose customer does not stand in the event. */
export interface Reference {
  readonly kind: 'charge' | 'invoice' | 'payment_intent';
  readonly id: string;
}

/** An event whose customer has still to be asked for. */
interface WaitingEvent extends Reference {
  /** The event. */
  readonly _id: string;
  readonly type: string;
  readonly dueAt: Date;
  readonly failures: number;
}

const EVENTS: CollectionSpec = { name: 'billing_events', indexes: [{ fields: { dueAt: 1 } }] };
/** Of signatures, in seconds. */
const TOLERANCE_S = 300;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 3_600_000;
const AT_ONCE = 20;

/** How an event was taken. */
export type EventOutcome = 'noted' | 'ignored';

/** The bytes were not signed by the provider, or too long ago, or are no event. */
export class BadEvent extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadEvent';
  }
}

export interface PaymentEventParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly store: BillingStore;
  readonly gateway: StripeGateway;
  readonly webhookSecret: string | undefined;
  /** Spreads what is tried again. */
  readonly random?: (() => number) | undefined;
}

/** Takes events. What one says is not looked at: only whom it is about, so that they are asked for anew. */
export class PaymentEvents {
  readonly #waiting: Collection<WaitingEvent>;
  readonly #parts: PaymentEventParts;

  constructor(parts: PaymentEventParts) {
    this.#waiting = new Collection(parts.connection, EVENTS);
    this.#parts = parts;
  }

  /** Without the secret of an endpoint no event can be told from a forgery. */
  get canVerify(): boolean {
    return this.#parts.webhookSecret !== undefined;
  }

  /**
   * Takes the bytes of a request as they came. When it resolves the mark is durable.
   *
   * @throws BadEvent
   */
  async accept(
    bytes: Buffer,
    signature: string,
  ): Promise<{ outcome: EventOutcome; type: string; ageSeconds: number }> {
    const event = this.#verify(bytes, signature);
    const ageSeconds = Math.max(0, this.#parts.clock.now().getTime() / 1000 - event.created);
    return { outcome: await this.note(event), type: event.type, ageSeconds };
  }

  /** Notes whom a genuine event is about. */
  async note(event: Pick<Stripe.Event, 'id' | 'type'> & { data: { object: object } }): Promise<EventOutcome> {
    if (!KNOWN.has(event.type)) return 'ignored';
    const { store, clock } = this.#parts;
    const customerId = customerOf(event.data.object);
    if (customerId !== undefined) return (await store.want(customerId, event.type)) ? 'noted' : 'ignored';
    const reference = referenceOf(event.data.object);
    if (reference === undefined) return 'ignored';
    const { id: _id, type } = event;
    await this.#waiting.insertIfAbsent({ _id, type, ...reference, dueAt: clock.now(), failures: 0 });
    return 'noted';
  }

  /** Finds out whom events are about that do not say it. @returns how many. */
  async resolveWaiting(): Promise<number> {
    const { store, gateway, clock, random = Math.random } = this.#parts;
    const due = await this.#waiting.find(
      { dueAt: { $lte: clock.now() } },
      { sort: { dueAt: 1 }, limit: AT_ONCE },
    );
    for (const { _id, type, kind, id, failures } of due) {
      try {
        const customerId = await gateway.customerOf({ kind, id });
        if (customerId !== undefined) await store.want(customerId, type);
        await this.#waiting.deleteOne({ _id });
      } catch {
        const delay = backoffMs(failures + 1, FIRST_BACKOFF_MS, MAX_BACKOFF_MS, random);
        const dueAt = new Date(clock.now().getTime() + delay);
        await this.#waiting.updateOne({ _id }, { $set: { dueAt }, $inc: { failures: 1 } });
      }
    }
    return due.length;
  }

  #verify(bytes: Buffer, signature: string): Stripe.Event {
    const { gateway, webhookSecret, clock } = this.#parts;
    if (webhookSecret === undefined) throw new BadEvent('no webhook secret is configured');
    try {
      const { webhooks } = gateway.stripe;
      const now = clock.now().getTime();
      return webhooks.constructEvent(bytes, signature, webhookSecret, TOLERANCE_S, undefined, now);
    } catch (error) {
      throw new BadEvent((error as Error).message);
    }
  }
}

function customerOf(object: object): string | undefined {
  const { object: kind, id, customer } = object as { object?: unknown; id?: unknown; customer?: unknown };
  if (kind === 'customer') return typeof id === 'string' ? id : undefined;
  return idOf(customer as string | { id: string } | null | undefined) ?? undefined;
}

function referenceOf(object: object): Reference | undefined {
  for (const kind of ['charge', 'invoice', 'payment_intent'] as const) {
    const found = (object as Record<string, unknown>)[kind];
    const id = idOf(found as string | { id: string } | null | undefined);
    if (id !== null) return { kind, id };
  }
  return undefined;
}
