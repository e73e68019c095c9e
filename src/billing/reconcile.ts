import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { BillingStore } from './billing-store.ts';
import { EVENT_TYPES, type PaymentEvents } from './payment-events.ts';
import type { StripeGateway } from './stripe-gateway.ts';

/** An event that did not get here, and was found at the provider. */
interface MissedEvent {
  /** The event. */
  readonly _id: string;
  readonly seenAt: Date;
}

const MISSED: CollectionSpec = { name: 'billing_missed_events', indexes: [{ fields: { seenAt: 1 } }] };
/** The provider keeps events for thirty days. */
const KEPT_MS = 31 * 24 * 3_600_000;
const MOST_EVENTS = 1000;
/** The provider takes so many types in one question. */
const TYPES_AT_ONCE = 20;
/** Customers that are looked at again in one run; all of them in turn. */
const CUSTOMERS_AT_ONCE = 20;

/** Finds what events did not tell: those that never arrived, and customers whose state is another than is known. */
export class Reconcile {
  readonly #missed: Collection<MissedEvent>;
  readonly #parts: {
    readonly store: BillingStore;
    readonly events: PaymentEvents;
    readonly gateway: StripeGateway;
    readonly clock: Clock;
  };
  #offset = 0;

  constructor(
    connection: Connection,
    parts: { store: BillingStore; events: PaymentEvents; gateway: StripeGateway; clock: Clock },
  ) {
    this.#missed = new Collection(connection, MISSED);
    this.#parts = parts;
  }

  /** Takes the events that were not delivered, each once. @returns how many. */
  async events(): Promise<number> {
    const { gateway, events, clock } = this.#parts;
    await this.#missed.deleteMany({ seenAt: { $lt: new Date(clock.now().getTime() - KEPT_MS) } });
    let found = 0;
    for (let from = 0; from < EVENT_TYPES.length; from += TYPES_AT_ONCE) {
      const types = EVENT_TYPES.slice(from, from + TYPES_AT_ONCE);
      const list = gateway.stripe.events.list({ delivery_success: false, types, limit: 100 });
      for (const event of await list.autoPagingToArray({ limit: MOST_EVENTS })) {
        if ((await this.#missed.findById(event.id)) !== undefined) continue;
        const outcome = await events.note(event);
        await this.#missed.insertIfAbsent({ _id: event.id, seenAt: clock.now() });
        if (outcome === 'noted') found += 1;
      }
    }
    return found;
  }

  /** Has the next few customers looked at, from the first to the last and again. */
  async customers(): Promise<void> {
    const { store } = this.#parts;
    const page = await store.page(CUSTOMERS_AT_ONCE, this.#offset);
    for (const { _id } of page) await store.wantAccount(_id, 'reconcile');
    this.#offset = page.length < CUSTOMERS_AT_ONCE ? 0 : this.#offset + page.length;
  }
}
