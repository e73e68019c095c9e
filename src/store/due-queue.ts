import type { mongo } from 'mongoose';
import { backoffMs } from '../async/backoff.ts';
import type { Clock } from '../clock.ts';
import type { Collection, Update } from './collection.ts';
import type { Index } from './collection-spec.ts';

/** The fields of a record that is due at some time. */
export interface Due {
  readonly _id: string;
  /** When it may be claimed; of a claimed record the end of the lease. Absent while nothing is to be done. */
  readonly dueAt?: Date;
  /** Raised when a claim begins and when it ends: only the holder of the last claim may write. Absent before the first. */
  readonly fence?: number;
  /** Failures in a row, as `retryLater` counts them. */
  readonly failures?: number;
}

/**
 * To be declared by every collection that is a due-queue. Unique, as the id in it is: the embedded database reads parts of
 * such indexes alone (docs/decisions/0178).
 */
export const DUE_INDEX: Index = { fields: { dueAt: 1, _id: 1 }, unique: true };

export interface DueQueueOptions {
  /** How long a claim lasts that is neither renewed nor ended, in milliseconds; 10,000 by default. */
  readonly leaseMs?: number;
  /** Waits of `retryLater` in milliseconds: the first, and the longest that they double up to; 1,000 and 300,000 by default. */
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number };
  /** A number in [0, 1), which spreads those waits. */
  readonly random?: () => number;
}

/** The lease of a claim where a queue names no other, in milliseconds. */
export const LEASE_MS = 10_000;
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };
/** Two renewals of a lease may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * The records of a collection that are due at some time, each for one process at a time:
 *
 *     (at rest) ─schedule→ due ─claim→ leased ─finish→ (at rest)
 *                           ▲            │ └──remove→ (deleted)
 *                           └────────────┘ postpone, retryLater, or the lease ends
 *
 * A claim moves `dueAt` to the end of the lease, so a record whose holder has died is due again by itself. The holder of a
 * lease that has ended may still be at work; as soon as the record is claimed anew the fence refuses what it writes. So
 * what is to be done may be begun twice, and its outcome is written once.
 */
export class DueQueue<T extends Due> {
  protected readonly records: Collection<T>;
  protected readonly clock: Clock;
  readonly #leaseMs: number;
  readonly #options: DueQueueOptions;

  /** @param records declared with `DUE_INDEX`. */
  constructor(records: Collection<T>, clock: Clock, options: DueQueueOptions = {}) {
    this.records = records;
    this.clock = clock;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#options = options;
  }

  find(id: string): Promise<T | undefined> {
    return this.records.findById(id);
  }

  /**
   * Up to `limit` records that are due now, the longest due first.
   *
   * @param filter leaves some out; its fields are to be declared in `filtersBy`.
   */
  due(limit: number, filter: mongo.Filter<T> = {}): Promise<T[]> {
    // With a lower bound, or the embedded database would read the keys of all records at rest, which come before it.
    const dueAt = { $gt: new Date(0), $lte: this.clock.now() };
    return this.records.find({ ...filter, dueAt } as mongo.Filter<T>, { sort: { dueAt: 1 }, limit });
  }

  /** Makes a record due at that time, or makes such a record. A holder that has claimed it meanwhile can write no more. */
  async schedule(id: string, dueAt: Date, update: Update<T> = {}): Promise<void> {
    await this.records.upsert(id, moved<T>(dueAt, update));
  }

  /**
   * Leases a record that was read before.
   *
   * @returns the record as it is then; undefined when another process has claimed or scheduled it since it was read.
   */
  claim({ _id, dueAt, fence }: T, update: Update<T> = {}): Promise<T | undefined> {
    const asSeen = { _id, dueAt: dueAt ?? null, fence: fence ?? null };
    return this.records.findOneAndUpdate(asSeen as mongo.Filter<T>, moved<T>(this.leaseEnd(), update));
  }

  /** Prolongs a lease that has not ended. @returns the record as it is then; undefined when the lease is over. */
  renew({ _id, fence }: T, update: Update<T> = {}): Promise<T | undefined> {
    const held = { _id, fence, dueAt: { $gt: this.clock.now() } } as unknown as mongo.Filter<T>;
    const $set = { ...update.$set, dueAt: this.leaseEnd() } as mongo.MatchKeysAndValues<T>;
    return this.records.findOneAndUpdate(held, { ...update, $set });
  }

  /** Does the work of a claim, and renews its lease until that is done. */
  async holding<R>(claimed: T, work: () => Promise<R>): Promise<R> {
    const timer = setInterval(() => {
      // A renewal that fails is made good by the next, or the claim is over.
      this.renew(claimed).catch(() => undefined);
    }, this.#leaseMs / RENEWALS_PER_LEASE);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends a claim: the record rests. @returns false when the claim was over; then nothing was written. */
  finish(claimed: T, update?: Update<T>): Promise<boolean> {
    return this.endClaim(claimed, undefined, update);
  }

  /** Ends a claim: the record is due at that time. @returns false as of `finish`. */
  postpone(claimed: T, dueAt: Date, update?: Update<T>): Promise<boolean> {
    return this.endClaim(claimed, dueAt, update);
  }

  /** Ends a claim whose work has failed: due later, and later still the more failures there were in a row. */
  retryLater(claimed: T, update: Update<T> = {}): Promise<boolean> {
    const { backoff: { firstMs, maxMs } = BACKOFF, random = Math.random } = this.#options;
    const delayMs = backoffMs((claimed.failures ?? 0) + 1, firstMs, maxMs, random);
    const dueAt = new Date(this.clock.now().getTime() + delayMs);
    return this.postpone(claimed, dueAt, { ...update, $inc: { ...update.$inc, failures: 1 } });
  }

  /** Ends a claim by deleting the record. @returns false as of `finish`. */
  remove({ _id, fence }: T): Promise<boolean> {
    return this.records.deleteOne({ _id, fence } as mongo.Filter<T>);
  }

  /** @param when what must hold of the record besides. */
  protected endClaim(
    { _id, fence }: T,
    dueAt: Date | undefined,
    update: Update<T> = {},
    when: mongo.Filter<T> = {},
  ): Promise<boolean> {
    return this.records.updateOne({ ...when, _id, fence } as mongo.Filter<T>, moved<T>(dueAt, update));
  }

  protected leaseEnd(): Date {
    return new Date(this.clock.now().getTime() + this.#leaseMs);
  }
}

/** An update that moves a record to another time, or to rest, and ends whatever claim there is. */
export function moved<T extends Due>(dueAt: Date | undefined, update: Update<T>): Update<T> {
  const $inc = { ...update.$inc, fence: 1 };
  if (dueAt === undefined) return { ...update, $inc, $unset: { ...update.$unset, dueAt: '' } };
  return { ...update, $inc, $set: { ...update.$set, dueAt } as mongo.MatchKeysAndValues<T> };
}
