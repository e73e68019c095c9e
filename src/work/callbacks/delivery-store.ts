import type { Connection } from 'mongoose';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, DueQueue, moved } from '../../infra/store/due-queue.ts';
import { beyond, type KeysetPage } from '../../infra/store/keyset.ts';
import {
  type CallbackEvent,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryState,
  deliveryIdOf,
  KEPT_RESPONSES,
  MAX_RECENT_ATTEMPTS,
} from './delivery.ts';

/** What a delivery must have; a term that is absent leaves nothing out. */
export interface DeliveryTerms {
  readonly state?: DeliveryState | undefined;
  readonly event?: CallbackEvent | undefined;
  /** A part of the address, in either case. */
  readonly url?: string | undefined;
  /** Created at or after `from`, and before `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

export interface DeliveryListQuery extends DeliveryTerms {
  /** Only the delivery about this job or batch. */
  readonly jobId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

export interface DeliveryList {
  /** Of a search by event or address: how many match of those that were examined. */
  readonly total: number;
  readonly deliveries: Delivery[];
  /** Where a search ended before the end: the `to`, or, the oldest first, the `from` of the next one. Else null. */
  readonly searchedTo: Date | null;
}

/** Owners whose deliveries are left out: they have as many under way as they may. */
export interface Busy {
  readonly pairs: readonly string[];
  readonly accounts: readonly string[];
  readonly hosts: readonly string[];
}

/** The result of an attempt. */
export type AttemptEnd = Pick<Delivery, 'state' | 'lastAttemptAt' | 'responseStatus' | 'error'> & {
  /** How long it took, and what the receiver said. */
  readonly attempt?: Pick<DeliveryAttempt, 'durationMs' | 'response'>;
  /** When the next attempt is due; absent when there is none. */
  readonly dueAt?: Date;
};

/** A delivery past its retention, and the bytes that it takes. */
export type OldDelivery = Pick<Delivery, '_id' | 'accountId' | 'bytes'>;

/** In milliseconds: longer than an attempt and its notes take. A process that has not finished by then is dead. */
const LEASE_MS = 30_000;
/** More than the longest wait after a failed attempt, in milliseconds; see retry-schedule.ts. */
const LONGEST_WAIT_MS = 8 * 3_600_000;
/** Deliveries that one search examines at most; what lies beyond is found by another search, which begins there. */
export const MOST_EXAMINED = 5000;
/** Deliveries that are sent again by one request at most. */
export const MOST_REDELIVERED = 500;
/** What lists have no use for. */
const LISTED = { recentAttempts: 0 } as const;
/** What the sender must know of a delivery before it claims it. */
const DUE = { dueAt: 1, fence: 1, attempts: 1, accountId: 1, pair: 1, host: 1 } as const;
/** Deliveries that `hastenBefore` reads at a time. */
const PAGE = 100;
const KEPT_MS = 90 * 24 * 3_600_000;

const DELIVERIES: CollectionSpec = {
  name: 'callback_deliveries',
  account: 'accountId',
  // Unique, as the id in them is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
  indexes: [
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { accountId: 1, state: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { createdAt: 1, _id: 1 }, unique: 'embedded' },
    DUE_INDEX,
  ],
  filtersBy: {
    fields: ['_id', 'pair', 'accountId', 'host', 'state', '$or'],
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
      reads: DUE,
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
  finishAttempt(claimed: Delivery, { dueAt, attempt, ...end }: AttemptEnd): Promise<boolean> {
    const deliveredAt = end.state === 'delivered' ? { deliveredAt: end.lastAttemptAt } : {};
    const { lastAttemptAt, responseStatus, error } = end;
    const last = { at: lastAttemptAt ?? this.clock.now(), responseStatus, error, ...attempt };
    const recentAttempts = withFewResponses([...(claimed.recentAttempts ?? []), last]);
    const set = { ...end, ...deliveredAt, recentAttempts };
    return this.endClaim(claimed, dueAt, { $set: set, $inc: { attempts: 1 } });
  }

  /**
   * A page of an account's deliveries, and how many there are in all. There is no index for events and addresses: a search
   * by these examines MOST_EXAMINED at most, and says where it has stopped.
   */
  async list(accountId: string, query: DeliveryListQuery): Promise<DeliveryList> {
    const { jobId, offset, limit, newestFirst } = query;
    if (jobId !== undefined) {
      const one = await this.find(deliveryIdOf(jobId));
      const isMeant = one?.accountId === accountId && matches(one, query);
      return { total: isMeant ? 1 : 0, deliveries: isMeant ? [one].slice(offset) : [], searchedTo: null };
    }
    if (query.event !== undefined || query.url !== undefined) {
      const { ids, searchedTo } = await this.#search(accountId, query, newestFirst);
      const page = ids.slice(offset, offset + limit);
      return { total: ids.length, deliveries: await this.#inOrder(page), searchedTo };
    }
    const filter = within(accountId, query);
    const direction = newestFirst ? -1 : 1;
    const [total, deliveries] = await Promise.all([
      this.records.count(filter),
      this.records.find(filter, {
        sort: { createdAt: direction, _id: direction },
        skip: offset,
        limit,
        projection: LISTED,
      }),
    ]);
    return { total, deliveries, searchedTo: null };
  }

  /** The ids of the deliveries that match, among the first in the order of time. @param most ids at most. */
  async #search(
    accountId: string,
    terms: DeliveryTerms,
    newestFirst: boolean,
    most = MOST_EXAMINED,
  ): Promise<{ ids: string[]; searchedTo: Date | null }> {
    const sign = newestFirst ? -1 : 1;
    const ids: string[] = [];
    let examined = 0;
    let next: Date | undefined;
    await this.records.each(
      within(accountId, terms),
      {
        sort: { createdAt: sign, _id: sign },
        limit: MOST_EXAMINED + 1,
        projection: { createdAt: 1, state: 1, url: 1, 'payload.event': 1 },
      },
      (delivery) => {
        const isBeyond = examined === MOST_EXAMINED || ids.length === most;
        examined += 1;
        if (isBeyond) next ??= delivery.createdAt;
        else if (matches(delivery, terms)) ids.push(delivery._id);
      },
    );
    // The end of a search is before `to`, so others of the same millisecond are among those of the next one.
    return { ids, searchedTo: next === undefined ? null : new Date(next.getTime() + (newestFirst ? 1 : 0)) };
  }

  /** The deliveries with these ids, in this order; some may have been deleted since. */
  async #inOrder(ids: readonly string[]): Promise<Delivery[]> {
    if (ids.length === 0) return [];
    const found = await this.records.find({ _id: { $in: [...ids] } }, { projection: LISTED });
    const known = new Map(found.map((delivery) => [delivery._id, delivery]));
    return ids.flatMap((id) => known.get(id) ?? []);
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

  /**
   * Starts failed deliveries anew, the oldest first, MOST_REDELIVERED at most.
   *
   * @returns how many, and the `from` of the next such request; null when there are no more.
   */
  async redeliverFailed(
    accountId: string,
    terms: DeliveryTerms & { readonly from: Date },
  ): Promise<{ redelivered: number; searchedTo: Date | null }> {
    const failed = { ...terms, state: 'failed' } as const;
    const { ids, searchedTo } = await this.#search(accountId, failed, false, MOST_REDELIVERED);
    const anew = moved<Delivery>(this.clock.now(), { $set: { state: 'pending', attempts: 0 } });
    // One that was sent again meanwhile is left alone.
    const which = { _id: { $in: ids }, accountId, state: 'failed' } as const;
    return { redelivered: ids.length === 0 ? 0 : await this.records.updateMany(which, anew), searchedTo };
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
    const sort = { createdAt: -1, _id: -1 } as const;
    return this.records.find(filter, { sort, limit: page.limit, projection: LISTED });
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

/** The last attempts, of which the last few have their responses. */
function withFewResponses(attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] {
  const recent = attempts.slice(-MAX_RECENT_ATTEMPTS);
  return recent.map(({ response, ...attempt }, i) =>
    response === undefined || i < recent.length - KEPT_RESPONSES ? attempt : { ...attempt, response },
  );
}

function within(accountId: string, { state, from, to }: DeliveryTerms) {
  const createdAt = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
  return { accountId, ...(state && { state }), ...((from ?? to) && { createdAt }) };
}

function matches(
  delivery: Pick<Delivery, 'state' | 'createdAt' | 'url' | 'payload'>,
  { state, event, url, from, to }: DeliveryTerms,
): boolean {
  const { createdAt } = delivery;
  return (
    (state === undefined || delivery.state === state) &&
    (event === undefined || delivery.payload.event === event) &&
    (url === undefined || delivery.url.toLowerCase().includes(url.toLowerCase())) &&
    (from === undefined || createdAt >= from) &&
    (to === undefined || createdAt < to)
  );
}
