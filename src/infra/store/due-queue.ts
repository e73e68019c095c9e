import type { mongo } from 'mongoose';
import { backoffMs } from '../async/backoff.ts';
import { systemTimers, type Timers } from '../async/timers.ts';
import type { Clock } from '../clock.ts';
import type { Collection, Update } from './collection.ts';
import type { Index } from './collection-spec.ts';
import { CLOCK_SKEW_MS, FutureTimes } from './future-times.ts';
import { beyond, type KeysetPage } from './keyset.ts';

/** The fields of a record that is due at a given time. */
export interface Due {
  readonly _id: string;
  /** When it may be claimed; for a claimed record the end of the lease. Absent while there is nothing to do. */
  readonly dueAt?: Date;
  /** Raised when a claim begins and ends: only the last claim's holder may write. Absent before the first. */
  readonly fence?: number;
  /** Failures in a row, counted by `retryLater`. */
  readonly failures?: number;
}

/** To be declared by every collection that is a due-queue. */
export const DUE_INDEX: Index = { fields: { dueAt: 1, _id: 1 }, unique: 'embedded' };

interface DueQueueOptions<T> {
  /** How long a claim lasts that is neither renewed nor ended, in milliseconds; default 10,000. */
  readonly leaseMs?: number;
  /** The first wait of `retryLater`, and the longest, to which it doubles; milliseconds, default 1,000 and 300,000. */
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number };
  /** A number in [0, 1) that spreads these waits. */
  readonly random?: () => number;
  /**
   * How far in the future a record may be due at most, in milliseconds, or of each record: at least the length of a
   * lease. One that is due later was scheduled or claimed with a clock that was ahead, and counts as due once it has not
   * changed for the length of a lease. Default: a record may be due at any time.
   */
  readonly longestMs?: number | ((record: T) => number);
  /** What `due` reads of a record, for large ones: `dueAt`, `fence`, and what `longestMs` needs. Default: all of it. */
  readonly reads?: Readonly<Record<string, 1>>;
  readonly timers?: Timers | undefined;
}

/** The lease of a claim unless the queue sets another, in milliseconds. */
export const LEASE_MS = 10_000;
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };
/** Milliseconds between two checks for records that are due too far in the future, and how many one check reads. */
const FUTURE_CHECK_MS = 5_000;
const FUTURE_AT_ONCE = 100;
/** Two renewals of a lease may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * The records of a collection that are due at a given time, each processed by one process at a time:
 *
 *     (at rest) ─schedule→ due ─claim→ leased ─finish→ (at rest)
 *                           ▲            │ └──remove→ (deleted)
 *                           └────────────┘ postpone, retryLater, or the lease ends
 *
 * A claim moves `dueAt` to the end of the lease, so a record whose holder has died becomes due again. The holder of an
 * ended lease may still be working; once the record is claimed again, the fence rejects its writes. So the work may be
 * started twice, and its outcome is written once.
 */
export class DueQueue<T extends Due> {
  protected readonly records: Collection<T>;
  protected readonly clock: Clock;
  readonly #leaseMs: number;
  readonly #options: DueQueueOptions<T>;
  readonly #timers: Timers;
  readonly #times: FutureTimes;
  #futureCheckedAtMs = Number.NEGATIVE_INFINITY;

  /** @param records declared with `DUE_INDEX`. */
  constructor(records: Collection<T>, clock: Clock, options: DueQueueOptions<T> = {}) {
    this.records = records;
    this.clock = clock;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#times = new FutureTimes(clock, { timers: this.#timers, logger: records.logger });
  }

  find(id: string): Promise<T | undefined> {
    return this.records.findById(id);
  }

  /** Due records, the longest due first. @param filter leaves some out, by fields declared in `filtersBy`. */
  async due(limit: number, filter: mongo.Filter<T> = {}): Promise<T[]> {
    // With a lower bound, because otherwise the embedded database would read the keys of all records at rest, which
    // come first.
    const dueAt = { $gt: new Date(0), $lte: this.clock.now() };
    const due = await this.records.find({ ...filter, dueAt } as mongo.Filter<T>, {
      sort: { dueAt: 1 },
      limit,
      ...this.#projected(),
    });
    return due.length < limit ? [...due, ...(await this.#dueTooLate(limit - due.length, filter))] : due;
  }

  /** Records that are due later than they can be, and have not changed for the length of a lease. */
  async #dueTooLate(limit: number, filter: mongo.Filter<T>): Promise<T[]> {
    const { longestMs } = this.#options;
    const nowMs = this.#timers.nowMs();
    if (longestMs === undefined || nowMs - this.#futureCheckedAtMs < FUTURE_CHECK_MS) return [];
    this.#futureCheckedAtMs = nowMs;
    const longestOf = typeof longestMs === 'number' ? () => longestMs : longestMs;
    const leastMs = (typeof longestMs === 'number' ? longestMs : this.#leaseMs) + CLOCK_SKEW_MS;
    const dueAt = { $gt: new Date(this.clock.now().getTime() + leastMs) };
    // The farthest first, because these are the most likely ones.
    const found = await this.records.find({ ...filter, dueAt } as mongo.Filter<T>, {
      sort: { dueAt: -1 },
      limit: FUTURE_AT_ONCE,
      ...this.#projected(),
    });
    return found
      .filter((one) => this.#times.isOver(one._id, one.dueAt!, longestOf(one), this.#leaseMs))
      .slice(0, limit);
  }

  #projected() {
    const { reads } = this.#options;
    return { ...(reads && { projection: reads }) };
  }

  /** Makes a record due then, and inserts it if necessary. A process that has claimed it can no longer write. */
  async schedule(id: string, dueAt: Date, update: Update<T> = {}): Promise<void> {
    await this.records.upsert(id, moved<T>(dueAt, update));
  }

  /**
   * Makes a record due now that is there. A process that has claimed it can no longer write.
   *
   * @param when a further condition on the record.
   * @returns the updated record; undefined when there is none that fits.
   */
  hasten(id: string, update: Update<T> = {}, when: mongo.Filter<T> = {}): Promise<T | undefined> {
    const one = { ...when, _id: id } as mongo.Filter<T>;
    return this.records.findOneAndUpdate(one, moved<T>(this.clock.now(), update));
  }

  /** A page of the records that are due at some time, the longest due first. */
  upcoming(page: KeysetPage): Promise<T[]> {
    const { limit } = page;
    const bounds = { from: new Date(1), ascending: true };
    return this.records.find(beyond('dueAt', page, bounds), { sort: { dueAt: 1, _id: 1 }, limit });
  }

  /** @returns the updated record; undefined when another process has claimed or scheduled it since it was read. */
  claim({ _id, dueAt, fence }: T, update: Update<T> = {}): Promise<T | undefined> {
    const asSeen = { _id, dueAt: dueAt ?? null, fence: fence ?? null };
    return this.records.findOneAndUpdate(asSeen as mongo.Filter<T>, moved<T>(this.leaseEnd(), update));
  }

  /** Renews a lease that has not ended. @returns the updated record; undefined when the lease has ended. */
  renew({ _id, fence }: T, update: Update<T> = {}): Promise<T | undefined> {
    const held = { _id, fence, dueAt: { $gt: this.clock.now() } } as unknown as mongo.Filter<T>;
    const $set = { ...update.$set, dueAt: this.leaseEnd() } as mongo.MatchKeysAndValues<T>;
    return this.records.findOneAndUpdate(held, { ...update, $set });
  }

  /** Runs the work of a claim, and renews the lease until the work is done. */
  async holding<R>(claimed: T, work: () => Promise<R>): Promise<R> {
    const timer = setInterval(() => {
      // If a renewal fails, the next one extends the lease, or the claim has ended.
      this.renew(claimed).catch(() => undefined);
    }, this.#leaseMs / RENEWALS_PER_LEASE);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends a claim; the record is at rest then. @returns false, with nothing written, when it had ended before. */
  finish(claimed: T, update?: Update<T>): Promise<boolean> {
    return this.endClaim(claimed, undefined, update);
  }

  /** Ends a claim; the record is due at this time. @returns false as for `finish`. */
  postpone(claimed: T, dueAt: Date, update?: Update<T>): Promise<boolean> {
    return this.endClaim(claimed, dueAt, update);
  }

  /** Ends a claim whose work has failed; the record is due again after a wait that grows with the failures in a row. */
  retryLater(claimed: T, update: Update<T> = {}): Promise<boolean> {
    const { backoff: { firstMs, maxMs } = BACKOFF, random = Math.random } = this.#options;
    const delayMs = backoffMs((claimed.failures ?? 0) + 1, firstMs, maxMs, random);
    const dueAt = new Date(this.clock.now().getTime() + delayMs);
    return this.postpone(claimed, dueAt, { ...update, $inc: { ...update.$inc, failures: 1 } });
  }

  /** Ends a claim by deleting the record. @returns false as for `finish`. */
  remove({ _id, fence }: T): Promise<boolean> {
    return this.records.deleteOne({ _id, fence } as mongo.Filter<T>);
  }

  /** @param when a further condition on the record. */
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

/** An update that moves a record to another time or to rest, and ends any claim. */
export function moved<T extends Due>(dueAt: Date | undefined, update: Update<T>): Update<T> {
  const $inc = { ...update.$inc, fence: 1 };
  if (dueAt === undefined) return { ...update, $inc, $unset: { ...update.$unset, dueAt: '' } };
  return { ...update, $inc, $set: { ...update.$set, dueAt } as mongo.MatchKeysAndValues<T> };
}
