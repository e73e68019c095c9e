import type { Connection } from 'mongoose';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, DueQueue, moved } from '../../infra/store/due-queue.ts';
import { beyond, type KeysetPage } from '../../infra/store/keyset.ts';
import { type Delivery, type DeliveryState, deliveryIdOf, MAX_RECENT_ATTEMPTS } from './delivery.ts';

export interface DeliveryListQuery {
  readonly state?: DeliveryState | undefined;
  /** Only the delivery about this job or batch. */
  readonly jobId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** Owners whose deliveries are left out: they have as many under way as they may. */
export interface Busy {
  readonly pairs: readonly string[];
  readonly accounts: readonly string[];
  readonly hosts: readonly string[];
}

/** The result of an attempt. */
export type AttemptEnd = Pick<Delivery, 'state' | 'lastAttemptAt' | 'responseStatus' | 'error'> & {
  /** When the next attempt is due; absent when there is none. */
  readonly dueAt?: Date;
};

/** A delivery past its retention, and the bytes that it takes. */
export type OldDelivery = Pick<Delivery, '_id' | 'accountId' | 'bytes'>;

/** In milliseconds: longer than an attempt and its notes take. A process that has not finished by then is dead. */
const LEASE_MS = 30_000;
/** More than the longest wait after a failed attempt, in milliseconds; see retry-schedule.ts. */
const LONGEST_WAIT_MS = 8 * 3_600_000;
/** Deliveries that `hastenBefore` reads at a time. */
const PAGE = 100;
const KEPT_MS = 90 * 24 * 3_600_000;

const DELIVERIES: CollectionSpec = {
  name: 'callback_deliveries',
  account: 'accountId',
  // Unique, as the id in them is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
  indexes: [
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { accountId: 1, state: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { createdAt: 1, _id: 1 }, unique: true },
    DUE_INDEX,
  ],
  filtersBy: {
    fields: ['pair', 'accountId', 'host', 'state', '$or'],
    reason: 'the index leads to what is to be sent now, or to those of a few days',
  },
};

/** The same of uploads, which nobody lists, hastens or starts anew by their state. */
const UPLOADS: CollectionSpec = {
  ...DELIVERIES,
  name: 'uploads',
  filtersBy: { fields: ['pair', 'accountId', 'host'], reason: 'the index leads to what is to be sent now' },
};
/** In milliseconds: a PDF takes longer than a callback. */
const UPLOAD_LEASE_MS = 180_000;

/** Owns the record of callbacks, or that of uploads: the due ones, and for 90 days what became of each. */
export class DeliveryStore extends DueQueue<Delivery> {
  /** To be created before the connection's indexes. */
  constructor(
    connection: Connection,
    clock: Clock,
    timers?: Timers,
    of: 'callbacks' | 'uploads' = 'callbacks',
  ) {
    const leaseMs = of === 'uploads' ? UPLOAD_LEASE_MS : LEASE_MS;
    super(new Collection<Delivery>(connection, of === 'uploads' ? UPLOADS : DELIVERIES), clock, {
      leaseMs,
      longestMs: ({ attempts }) => (attempts === 0 ? leaseMs : LONGEST_WAIT_MS),
      timers,
    });
  }

  /** Durable when it resolves. Deliveries that exist already stay as they are, whatever has become of them. */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    await this.records.insertAbsent(deliveries);
  }

  /** At most `limit` deliveries that are due now, the longest due first. */
  dueExcept({ pairs, accounts, hosts }: Busy, limit: number): Promise<Delivery[]> {
    return this.due(limit, {
      ...(pairs.length > 0 && { pair: { $nin: [...pairs] } }),
      ...(accounts.length > 0 && { accountId: { $nin: [...accounts] } }),
      ...(hosts.length > 0 && { host: { $nin: [...hosts] } }),
    });
  }

  /** Gives a claimed delivery back as if it had not been taken. */
  async release(claimed: Delivery): Promise<void> {
    await this.postpone(claimed, this.clock.now());
  }

  /** Notes the result of a claimed delivery's attempt. @returns false when it was claimed or changed since. */
  finishAttempt(claimed: Delivery, { dueAt, ...end }: AttemptEnd): Promise<boolean> {
    const deliveredAt = end.state === 'delivered' ? { deliveredAt: end.lastAttemptAt } : {};
    const { lastAttemptAt, responseStatus, error } = end;
    const attempt = { at: lastAttemptAt ?? this.clock.now(), responseStatus, error };
    const recentAttempts = [...(claimed.recentAttempts ?? []), attempt].slice(-MAX_RECENT_ATTEMPTS);
    const set = { ...end, ...deliveredAt, recentAttempts };
    return this.endClaim(claimed, dueAt, { $set: set, $inc: { attempts: 1 } });
  }

  /** A page of an account's deliveries, and how many there are in all. */
  async list(
    accountId: string,
    query: DeliveryListQuery,
  ): Promise<{ total: number; deliveries: Delivery[] }> {
    if (query.jobId !== undefined) {
      const one = await this.find(deliveryIdOf(query.jobId));
      const isMeant = one?.accountId === accountId && one.state === (query.state ?? one.state);
      const page = isMeant ? [one].slice(query.offset) : [];
      return { total: isMeant ? 1 : 0, deliveries: page };
    }
    const filter = { accountId, ...(query.state && { state: query.state }) };
    const direction = query.newestFirst ? -1 : 1;
    const [total, deliveries] = await Promise.all([
      this.records.count(filter),
      this.records.find(filter, {
        sort: { createdAt: direction, _id: direction },
        skip: query.offset,
        limit: query.limit,
      }),
    ]);
    return { total, deliveries };
  }

  /**
   * Starts a delivery anew, under its own id and whatever became of it; an attempt that is under way no longer counts.
   *
   * @returns undefined when the account has no delivery of this id.
   */
  redeliver(accountId: string, id: string): Promise<Delivery | undefined> {
    const anew = { $set: { state: 'pending', attempts: 0 } } as const;
    return this.records.findOneAndUpdate({ _id: id, accountId }, moved<Delivery>(this.clock.now(), anew));
  }

  /** Makes deliveries of earlier owners due now, for the sender to end them. @returns how many pended. */
  async hastenBefore(accountId: string, ownerFence: number): Promise<number> {
    const pending = { accountId, state: 'pending' } as const;
    let hastened = 0;
    for (let skip = 0; ; skip += PAGE) {
      const page = { sort: { createdAt: 1, _id: 1 }, skip, limit: PAGE } as const;
      const found = await this.records.find(pending, page);
      for (const delivery of found) {
        const isOld = (delivery.ownerFence ?? 0) < ownerFence;
        if (isOld && (await this.postpone(delivery, this.clock.now()))) hastened += 1;
      }
      if (found.length < PAGE) return hastened;
    }
  }

  /** A page of the deliveries of all accounts that were given up, of those scheduled since a time; the newest first. */
  failed(page: KeysetPage, from: Date): Promise<Delivery[]> {
    const filter = { state: 'failed', ...beyond<Delivery>('createdAt', page, { from }) } as const;
    return this.records.find(filter, { sort: { createdAt: -1, _id: -1 }, limit: page.limit });
  }

  /** Some deliveries past their retention. */
  old(now: Date, limit: number): Promise<OldDelivery[]> {
    const filter = { createdAt: { $lt: new Date(now.getTime() - KEPT_MS) } };
    const projection = { accountId: 1, bytes: 1 } as const;
    return this.records.find(filter, { projection, sort: { createdAt: 1, _id: 1 }, limit });
  }

  /** @returns how many were deleted. */
  delete(ids: readonly string[]): Promise<number> {
    return this.records.deleteMany({ _id: { $in: [...ids] } });
  }

  /** Some deliveries by their ids. */
  some(ids: readonly string[]): Promise<Delivery[]> {
    return this.records.find({ _id: { $in: [...ids] } });
  }

  /** Bytes of an account's callbacks that are not counted with their batches. */
  async storedBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$bytes' } } };
    const [sum] = await this.records.aggregate<{ bytes: number }>({ accountId }, [group]);
    return sum?.bytes ?? 0;
  }
}
