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

const KEPT_MS = 90 * 24 * 3_600_000;

const DELIVERIES: CollectionSpec = {
  name: 'callback_deliveries',
  indexes: [
    { fields: { accountId: 1, createdAt: -1, _id: -1 } },
    { fields: { due: 1 }, sparse: true },
    { fields: { createdAt: 1 } },
  ],
  looksAt: {
    asked: ['state', 'lane', 'accountId', 'host'],
    because: 'the index leads to the deliveries of one account, or to those that are to be sent now',
  },
};

/** Owns the record of callbacks: what is to be sent, and for 90 days what became of it. */
export class DeliveryStore {
  readonly #deliveries: Collection<Delivery>;
  readonly #clock: Clock;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock) {
    this.#deliveries = new Collection<Delivery>(connection, DELIVERIES);
    this.#clock = clock;
  }

  /** Durable when it resolves. Those that were ordered before stay as they are, whatever has become of them. */
  order(deliveries: readonly Delivery[]): Promise<void> {
    return this.#deliveries.insertAbsent(deliveries);
  }

  /** Some that are to be sent now, the longest due first. */
  due({ lanes, accounts, hosts }: Busy, limit: number): Promise<Delivery[]> {
    const filter = {
      due: { $lte: this.#clock.now() },
      ...(lanes.length > 0 && { lane: { $nin: [...lanes] } }),
      ...(accounts.length > 0 && { accountId: { $nin: [...accounts] } }),
      ...(hosts.length > 0 && { host: { $nin: [...hosts] } }),
    };
    return this.#deliveries.find(filter, { sort: { due: 1 }, limit });
  }

  /**
   * Takes a delivery for `ms` milliseconds; when nothing is heard of whoever took it by then, it is due again.
   *
   * @returns undefined when somebody else has taken it, or changed it by hand.
   */
  claim({ _id, version }: Delivery, ms: number): Promise<Delivery | undefined> {
    const due = new Date(this.#clock.now().getTime() + ms);
    return this.#deliveries.findOneAndUpdate(
      { _id, version, state: 'pending' },
      { $set: { due }, $inc: { version: 1 } },
    );
  }

  /** Gives a claimed delivery back as if it had not been taken. */
  async release({ _id, version }: Delivery): Promise<void> {
    await this.#deliveries.updateOne({ _id, version }, { $set: { due: this.#clock.now() } });
  }

  /** Notes what came of a claimed delivery's attempt. @returns false when it was taken or changed by others meanwhile. */
  settle({ _id, version }: Delivery, { due, ...end }: AttemptEnd): Promise<boolean> {
    const deliveredAt = end.state === 'delivered' ? { deliveredAt: end.lastAttemptAt } : {};
    return this.#deliveries.updateOne(
      { _id, version },
      {
        $set: { ...end, ...deliveredAt, ...(due && { due }) },
        ...(due === undefined && { $unset: { due: '' } }),
        $inc: { attempts: 1, version: 1 },
      },
    );
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
  redeliver(accountId: string, id: string): Promise<Delivery | undefined> {
    return this.#deliveries.findOneAndUpdate(
      { _id: id, accountId },
      { $set: { state: 'pending', due: this.#clock.now(), attempts: 0 }, $inc: { version: 1 } },
    );
  }

  /** @returns how many there were. */
  deleteOld(now: Date): Promise<number> {
    return this.#deliveries.deleteMany({ createdAt: { $lt: new Date(now.getTime() - KEPT_MS) } });
  }
}
