import type Stripe from 'stripe';
import type { Core } from '../../infra/core.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { KeysetPage } from '../../infra/store/keyset.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import { idOf } from '../stripe/stripe-snapshots.ts';
import type { BillingStore } from './billing-store.ts';

/** Types of events that can change what an account has; the endpoint subscribes to no others. */
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
/** Older names of such events, for endpoints that `platen billing setup` has not made. */
const OLDER_NAMES = ['charge.refunded', 'charge.refund.updated'];
const KNOWN: ReadonlySet<string> = new Set([...EVENT_TYPES, ...OLDER_NAMES]);

/** An object that an event names instead of its customer. */
interface Reference {
  readonly kind: 'charge' | 'invoice' | 'payment_intent';
  readonly id: string;
}

/** An event whose customer is not known yet. */
export interface WaitingEvent extends Reference, Due {
  /** The event. */
  readonly _id: string;
  readonly type: string;
}

const EVENTS: CollectionSpec = {
  name: 'billing_events',
  account: { none: 'events of the provider that are not understood yet, by its own ids' },
  indexes: [DUE_INDEX],
  filtersBy: { fields: ['$or'], reason: 'a page begins among the events of one moment' },
};
/** The greatest age of a signature, in seconds. */
const TOLERANCE_S = 300;
const BACKOFF = { firstMs: 1_000, maxMs: 3_600_000 };
const PER_QUERY = 20;

type EventOutcome = 'noted' | 'ignored';

/** The bytes were not signed by the provider, were signed too long ago, or are no event. */
export class BadEvent extends Error {
  override readonly name = 'BadEvent';
}

interface PaymentEventDeps extends Pick<Core, 'connection' | 'clock'> {
  readonly store: BillingStore;
  readonly gateway: StripeGateway;
  readonly webhookSecret: string | undefined;
  /** A number in [0, 1) that spreads retries. */
  readonly random?: (() => number) | undefined;
}

/** Takes events. An event's content is not used but for its customer, whose state is then queried. */
export class PaymentEvents {
  readonly #events: Collection<WaitingEvent>;
  readonly #waiting: DueQueue<WaitingEvent>;
  readonly #deps: PaymentEventDeps;

  constructor(deps: PaymentEventDeps) {
    const { connection, clock, random = Math.random } = deps;
    this.#events = new Collection(connection, EVENTS);
    this.#waiting = new DueQueue(this.#events, clock, { backoff: BACKOFF, longestMs: BACKOFF.maxMs, random });
    this.#deps = deps;
  }

  /** Without the endpoint's secret an event cannot be distinguished from a forgery. */
  get canVerify(): boolean {
    return this.#deps.webhookSecret !== undefined;
  }

  /** Takes the bytes of a request as they came. When it resolves the mark is durable. @throws BadEvent */
  async accept(
    bytes: Buffer,
    signature: string,
  ): Promise<{ outcome: EventOutcome; type: string; ageSeconds: number }> {
    const event = this.#verify(bytes, signature);
    const ageSeconds = Math.max(0, this.#deps.clock.now().getTime() / 1000 - event.created);
    return { outcome: await this.note(event), type: event.type, ageSeconds };
  }

  /** Notes the customer that a genuine event is about. */
  async note(event: Pick<Stripe.Event, 'id' | 'type'> & { data: { object: object } }): Promise<EventOutcome> {
    if (!KNOWN.has(event.type)) return 'ignored';
    const { store, clock } = this.#deps;
    const customerId = customerOf(event.data.object);
    if (customerId !== undefined) return (await store.want(customerId, event.type)) ? 'noted' : 'ignored';
    const reference = referenceOf(event.data.object);
    if (reference === undefined) return 'ignored';
    const { id: _id, type } = event;
    await this.#events.insertIfAbsent({ _id, type, ...reference, dueAt: clock.now() });
    return 'noted';
  }

  /** Finds the customers of events that do not name one. @returns how many events were tried. */
  async resolveWaiting(): Promise<number> {
    const { store, gateway } = this.#deps;
    const queue = this.#waiting;
    const due = new DueWork({
      queue,
      perQuery: PER_QUERY,
      renews: true,
      async attempt(event) {
        const { type, kind, id } = event;
        const customerId = await gateway.customerOf({ kind, id });
        if (customerId !== undefined) await store.want(customerId, type);
        return queue.remove(event);
      },
      onError: (_error, event) => queue.retryLater(event),
    });
    return (await due.pass()).length;
  }

  /** A page of the events whose customers are not known yet, the longest due first. */
  waiting(page: KeysetPage): Promise<WaitingEvent[]> {
    return this.#waiting.upcoming(page);
  }

  /** Looks for the customer of a waiting event again, now. @returns undefined when there is no such event. */
  retry(id: string): Promise<WaitingEvent | undefined> {
    return this.#waiting.hasten(id);
  }

  #verify(bytes: Buffer, signature: string): Stripe.Event {
    const { gateway, webhookSecret, clock } = this.#deps;
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
