import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { type ListCursors, type Range, readOn } from '../stripe/list-cursors.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import { undeliveredIn } from '../stripe/stripe-lists.ts';
import { date } from '../stripe/stripe-snapshots.ts';
import type { BillingStore } from './billing-store.ts';
import type { HalfMadeSchedules } from './half-made-schedules.ts';
import { EVENT_TYPES, type PaymentEvents } from './payment-events.ts';

/** An event that was not delivered, and was found at the provider. */
interface MissedEvent {
  /** The event. */
  readonly _id: string;
  readonly seenAt: Date;
}

const MISSED: CollectionSpec = {
  name: 'billing_missed_events',
  account: { none: 'ids of events alone' },
  indexes: [{ fields: { seenAt: 1 } }],
};
/** In milliseconds. The provider keeps events for 30 days. */
const KEPT_MS = 31 * 24 * 3_600_000;
/** Events that one pass reads per query: at most 1,000 new ones, and at most 1,000 that earlier passes have left. */
const EVENTS_A_PASS = 1000;
/** An event may appear in the list a little later than one that happened after it. In milliseconds. */
const MARGIN_MS = 60_000;
/** The most types that the provider takes in one query. */
const TYPES_AT_ONCE = 20;
/** Customers that one run checks; successive runs go through all of them. */
const CUSTOMERS_AT_ONCE = 20;

/** Names the list of all customers, for the state of the round through it. */
const CUSTOMERS = 'customers';

interface ReconcileDeps {
  readonly store: BillingStore;
  readonly events: PaymentEvents;
  readonly gateway: StripeGateway;
  readonly cursors: ListCursors;
  readonly schedules: HalfMadeSchedules;
  readonly clock: Clock;
}

/**
 * Finds what events did not report: events that never arrived, customers whose state differs from the stored one, and
 * schedules that a crash has left half-made at the provider.
 */
export class Reconcile {
  readonly #missed: Collection<MissedEvent>;
  readonly #deps: ReconcileDeps;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, deps: ReconcileDeps) {
    this.#missed = new Collection(connection, MISSED);
    this.#deps = deps;
  }

  /** Takes events that were not delivered, each once, from where the last pass ended. @returns how many. */
  async events(): Promise<number> {
    const { gateway, events, cursors, clock } = this.#deps;
    await this.#missed.deleteMany({ seenAt: { $lt: new Date(clock.now().getTime() - KEPT_MS) } });
    let found = 0;
    for (let from = 0; from < EVENT_TYPES.length; from += TYPES_AT_ONCE) {
      const types = EVENT_TYPES.slice(from, from + TYPES_AT_ONCE);
      const list = `events:${types.join()}`;
      const { items, known } = await readOn(
        await cursors.find(list),
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
      await cursors.keep(list, known);
    }
    return found;
  }

  /** Has the next few customers checked, round and round; the position is stored, so a restart goes on from it. */
  async customers(): Promise<void> {
    const { store, cursors } = this.#deps;
    const { lookedAt: checkedAt = '' } = await cursors.find(CUSTOMERS);
    const page = await store.after(checkedAt, CUSTOMERS_AT_ONCE);
    for (const { _id } of page) await store.wantAccount(_id, 'reconcile');
    const last = page.length < CUSTOMERS_AT_ONCE ? undefined : page.at(-1);
    await cursors.keepCheckedAt(CUSTOMERS, last?._id ?? '');
  }

  /** Finishes or releases half-made schedules. @returns how many. */
  schedules(): Promise<number> {
    return this.#deps.schedules.repair();
  }
}

function withMargin({ from, until }: Range): Range {
  return { from: from && new Date(from.getTime() - MARGIN_MS), until };
}
