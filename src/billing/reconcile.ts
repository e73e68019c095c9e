import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { BillingStore } from './billing-store.ts';
import type { HalfMadeSchedules } from './half-made-schedules.ts';
import { EVENT_TYPES, type PaymentEvents } from './payment-events.ts';
import { type Range, type Readings, readOn } from './readings.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { undeliveredIn } from './stripe-lists.ts';
import { date } from './stripe-snapshots.ts';

/** An event that did not get here, and was found at the provider. */
interface MissedEvent {
  /** The event. */
  readonly _id: string;
  readonly seenAt: Date;
}

const MISSED: CollectionSpec = { name: 'billing_missed_events', indexes: [{ fields: { seenAt: 1 } }] };
/** The provider keeps events for thirty days. */
const KEPT_MS = 31 * 24 * 3_600_000;
/** Events that one pass reads of each question: so many new ones, and so many of those that passes before have left. */
const EVENTS_A_PASS = 1000;
/** An event may come into the list a little later than one that happened after it. */
const MARGIN_MS = 60_000;
/** The provider takes so many types in one question. */
const TYPES_AT_ONCE = 20;
/** Customers that are looked at again in one run; all of them in turn. */
const CUSTOMERS_AT_ONCE = 20;

/** Names the list of all customers, for where the round through them stands. */
const CUSTOMERS = 'customers';

interface ReconcileParts {
  readonly store: BillingStore;
  readonly events: PaymentEvents;
  readonly gateway: StripeGateway;
  readonly readings: Readings;
  readonly schedules: HalfMadeSchedules;
  readonly clock: Clock;
}

/**
 * Finds what events did not tell: those that never arrived, customers whose state is another than is known, and what a crash
 * has left half-made at the provider.
 */
export class Reconcile {
  readonly #missed: Collection<MissedEvent>;
  readonly #parts: ReconcileParts;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, parts: ReconcileParts) {
    this.#missed = new Collection(connection, MISSED);
    this.#parts = parts;
  }

  /** Takes the events that were not delivered, each once; the next pass goes on where this one ends. @returns how many. */
  async events(): Promise<number> {
    const { gateway, events, readings, clock } = this.#parts;
    await this.#missed.deleteMany({ seenAt: { $lt: new Date(clock.now().getTime() - KEPT_MS) } });
    let found = 0;
    for (let from = 0; from < EVENT_TYPES.length; from += TYPES_AT_ONCE) {
      const types = EVENT_TYPES.slice(from, from + TYPES_AT_ONCE);
      const list = `events:${types.join()}`;
      const { items, known } = await readOn(
        await readings.find(list),
        EVENTS_A_PASS,
        (range, most) => undeliveredIn(gateway.stripe, types, withMargin(range), most),
        ({ created }) => date(created),
      );
      for (const event of items) {
        if ((await this.#missed.findById(event.id)) !== undefined) continue;
        const outcome = await events.note(event);
        await this.#missed.insertIfAbsent({ _id: event.id, seenAt: clock.now() });
        if (outcome === 'noted') found += 1;
      }
      await readings.keep(list, known);
    }
    return found;
  }

  /**
   * Has the next few customers looked at, from the first to the last and again. Where the round stands is kept: restarts do
   * not begin it anew.
   */
  async customers(): Promise<void> {
    const { store, readings } = this.#parts;
    const { lookedAt = '' } = await readings.find(CUSTOMERS);
    const page = await store.after(lookedAt, CUSTOMERS_AT_ONCE);
    for (const { _id } of page) await store.wantAccount(_id, 'reconcile');
    const last = page.length < CUSTOMERS_AT_ONCE ? undefined : page.at(-1);
    await readings.keepLookedAt(CUSTOMERS, last?._id ?? '');
  }

  /** Finishes or releases schedules that are half-made. @returns how many. */
  schedules(): Promise<number> {
    return this.#parts.schedules.mend();
  }
}

function withMargin({ from, until }: Range): Range {
  return { from: from && new Date(from.getTime() - MARGIN_MS), until };
}
