import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { Delivery, DeliveryState } from './delivery.ts';

export interface DeliveryListQuery {
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** Whose deliveries are left out: they have as many under way as they may. */
export interface Busy {
  readonly lanes: readonly string[];
  readonly accounts: readonly string[];
  readonly hosts: readonly string[];
}

/** What came of an attempt. */
export type AttemptEnd = Pick<Delivery, 'state' | 'lastAttemptAt' | 'responseStatus' | 'error'> & {
  /** When it is to be sent again; absent when it is not. */
  readonly due?: Date;
};

/**
 * Says that a delivery is to be sent. What may be over or put off by then is for the delivery itself to say: an entry that
 * is behind it is put right by whoever comes upon it.
 */
export interface DueEntry extends Pick<Delivery, '_id' | 'accountId' | 'host' | 'lane'> {
  readonly due: Date;
}

/** One that has had its time, and the room that it takes. */
export type OldDelivery = Pick<Delivery, '_id' | 'accountId' | 'bytes'>;

const KEPT_MS = 90 * 24 * 3_600_000;

const DELIVERIES: CollectionSpec = {
  name: 'callback_deliveries',
  // Unique, as the id in them is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
  indexes: [
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { accountId: 1, state: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { createdAt: 1, _id: 1 }, unique: true },
  ],
  replaced: [{ accountId: 1, createdAt: -1, _id: -1 }, { createdAt: 1 }],
};
const OUTBOX: CollectionSpec = {
  name: 'callback_outbox',
  indexes: [{ fields: { due: 1 } }],
  looksAt: {
    asked: ['lane', 'accountId', 'host'],
    because: 'the index leads to what is to be sent now',
  },
};

/**
 * Owns the record of callbacks: what is to be sent, and for 90 days what became of it. What is to be sent is listed apart,
 * in the outbox, so that looking for it costs the same however many are over.
 */
export class DeliveryStore {
  readonly #deliveries: Collection<Delivery>;
  readonly #outbox: Collection<DueEntry>;
  readonly #clock: Clock;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock) {
    this.#deliveries = new Collection<Delivery>(connection, DELIVERIES);
    this.#outbox = new Collection<DueEntry>(connection, OUTBOX);
    this.#clock = clock;
  }

  /** Durable when it resolves. Those that were ordered before stay as they are, whatever has become of them. */
  async order(deliveries: readonly Delivery[]): Promise<void> {
    await this.#deliveries.insertAbsent(deliveries);
    const now = this.#clock.now();
    await this.#outbox.insertAbsent(deliveries.map((delivery) => entryOf(delivery, delivery.due ?? now)));
  }

  /** Some that are to be sent now, the longest due first. */
  due({ lanes, accounts, hosts }: Busy, limit: number): Promise<DueEntry[]> {
    const filter = {
      due: { $lte: this.#clock.now() },
      ...(lanes.length > 0 && { lane: { $nin: [...lanes] } }),
      ...(accounts.length > 0 && { accountId: { $nin: [...accounts] } }),
      ...(hosts.length > 0 && { host: { $nin: [...hosts] } }),
    };
    return this.#outbox.find(filter, { sort: { due: 1 }, limit });
  }

  /**
   * Takes a delivery for `ms` milliseconds; when nothing is heard of whoever took it by then, it is due again.
   *
   * @returns undefined when somebody else has taken it, or it is not to be sent now.
   */
  async claim(entry: DueEntry, ms: number): Promise<Delivery | undefined> {
    const { _id } = entry;
    const now = this.#clock.now();
    const seen = await this.find(_id);
    if (seen?.state !== 'pending' || seen.due === undefined) {
      await this.#outbox.deleteOne({ _id, due: entry.due });
      return undefined;
    }
    if (seen.due > now) {
      await this.#outbox.updateOne({ _id, due: entry.due }, { $set: { due: seen.due } });
      return undefined;
    }
    const due = new Date(now.getTime() + ms);
    const claimed = await this.#deliveries.findOneAndUpdate(
      { _id, version: seen.version },
      { $set: { due }, $inc: { version: 1 } },
    );
    if (claimed !== undefined) await this.#outbox.updateOne({ _id }, { $set: { due } });
    return claimed;
  }

  /** Gives a claimed delivery back as if it had not been taken. */
  async release({ _id, version }: Delivery): Promise<void> {
    const due = this.#clock.now();
    const released = await this.#deliveries.updateOne({ _id, version }, { $set: { due } });
    if (released) await this.#outbox.updateOne({ _id }, { $set: { due } });
  }

  /** Notes what came of a claimed delivery's attempt. @returns false when it was taken or changed by others meanwhile. */
  async finishAttempt(claimed: Delivery, { due, ...end }: AttemptEnd): Promise<boolean> {
    const { _id, version } = claimed;
    const deliveredAt = end.state === 'delivered' ? { deliveredAt: end.lastAttemptAt } : {};
    const noted = await this.#deliveries.updateOne(
      { _id, version },
      {
        $set: { ...end, ...deliveredAt, ...(due && { due }) },
        ...(due === undefined && { $unset: { due: '' } }),
        $inc: { attempts: 1, version: 1 },
      },
    );
    if (!noted) return false;
    // Only as it was claimed: it may have been asked for by hand since.
    const listed = { _id, due: claimed.due! };
    if (due === undefined) await this.#outbox.deleteOne(listed);
    else await this.#outbox.updateOne(listed, { $set: { due } });
    return true;
  }

  /** A page of an account's deliveries, and how many there are in all. */
  async list(
    accountId: string,
    query: DeliveryListQuery,
  ): Promise<{ total: number; deliveries: Delivery[] }> {
    const filter = { accountId, ...(query.state && { state: query.state }) };
    const direction = query.newestFirst ? -1 : 1;
    const [total, deliveries] = await Promise.all([
      this.#deliveries.count(filter),
      this.#deliveries.find(filter, {
        sort: { createdAt: direction, _id: direction },
        skip: query.offset,
        limit: query.limit,
      }),
    ]);
    return { total, deliveries };
  }

  find(id: string): Promise<Delivery | undefined> {
    return this.#deliveries.findById(id);
  }

  /**
   * Begins a delivery anew, under its own id and whatever became of it; an attempt that is under way counts no more.
   *
   * @returns undefined when the account has none of this id.
   */
  async redeliver(accountId: string, id: string): Promise<Delivery | undefined> {
    const due = this.#clock.now();
    const begun = await this.#deliveries.findOneAndUpdate(
      { _id: id, accountId },
      { $set: { state: 'pending', due, attempts: 0 }, $inc: { version: 1 } },
    );
    if (begun === undefined) return undefined;
    const { _id, ...entry } = entryOf(begun, due);
    await this.#outbox.upsert(_id, { $set: entry });
    return begun;
  }

  /** Some that have had their time. */
  old(now: Date, limit: number): Promise<OldDelivery[]> {
    const filter = { createdAt: { $lt: new Date(now.getTime() - KEPT_MS) } };
    const projection = { accountId: 1, bytes: 1 } as const;
    return this.#deliveries.find(filter, { projection, sort: { createdAt: 1, _id: 1 }, limit });
  }

  /** @returns how many there were. */
  delete(ids: readonly string[]): Promise<number> {
    return this.#deliveries.deleteMany({ _id: { $in: [...ids] } });
  }

  /** Bytes of an account's callbacks that nothing else takes room for. */
  async storedBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$bytes' } } };
    const [sum] = await this.#deliveries.aggregate<{ bytes: number }>({ accountId }, [group]);
    return sum?.bytes ?? 0;
  }
}

function entryOf({ _id, accountId, host, lane }: Delivery, due: Date): DueEntry {
  return { _id, accountId, host, lane, due };
}
