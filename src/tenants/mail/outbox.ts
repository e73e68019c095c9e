import type { Connection, mongo } from 'mongoose';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, DueQueue } from '../../infra/store/due-queue.ts';
import { beyond, type KeysetPage } from '../../infra/store/keyset.ts';
import type { Mail, NewMail } from './mail.ts';

const KEPT_MS = 90 * 24 * 3_600_000;
/** The oldest waiting mail is searched among this many mails that are due first. */
const OLDEST_AMONG = 1_000;
/** Longer than an attempt takes: a process that has not finished one by then has crashed. Milliseconds. */
const LEASE_MS = 120_000;
/** More than the longest wait after a failed attempt, in milliseconds; see sender.ts. */
const LONGEST_WAIT_MS = 30 * 3_600_000;

const MAILS: CollectionSpec = {
  name: 'mails',
  account: 'accountId',
  indexes: [
    DUE_INDEX,
    // Unique because it contains the id: the embedded database reads only parts of a unique index.
    { fields: { createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { accountId: 1, _id: 1 }, unique: 'embedded' },
  ],
  filtersBy: { fields: ['state', '$or'], reason: 'the index leads to what is to be sent, or to some days' },
};

/** The result of an attempt; with `dueAt` it is to be repeated. */
export type MailEnd = { readonly error?: string } & (
  | { readonly state: 'waiting'; readonly dueAt: Date }
  | { readonly state: 'sent' | 'failed' }
);

/**
 * Owns the mails. A mail is written here before anything else follows from it, and stays for 90 days, so that work that
 * is repeated after a crash does not send it twice.
 */
export class MailOutbox extends DueQueue<Mail> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, timers?: Timers) {
    super(new Collection<Mail>(connection, MAILS), clock, {
      leaseMs: LEASE_MS,
      longestMs: ({ attempts }) => (attempts === 0 ? LEASE_MS : LONGEST_WAIT_MS),
      timers,
    });
  }

  /** Adds a mail; durable when it resolves. A mail with this id stays as it is, in whatever state. */
  async enqueue({ id, accountId, to, kind, values, unsubscribe }: NewMail): Promise<void> {
    const now = this.clock.now();
    // Keeps a kind and its values in one object, for the compiler to know that they belong together.
    const content = { kind, values };
    const waiting = { state: 'waiting', dueAt: now, attempts: 0, fence: 0, createdAt: now } as const;
    const ends = unsubscribe === undefined ? {} : { unsubscribe };
    await this.records.insertAbsent([{ _id: id, accountId, to, content, ...ends, ...waiting }]);
  }

  /** Records the result of an attempt. @returns false when another process has claimed the mail meanwhile. */
  finishAttempt(claimed: Mail, end: MailEnd): Promise<boolean> {
    const $inc = { attempts: 1 };
    const error = end.error === undefined ? {} : { error: end.error };
    if (end.state === 'waiting') return this.postpone(claimed, end.dueAt, { $inc, $set: error });
    return this.finish(claimed, { $inc, $set: { state: end.state, endedAt: this.clock.now(), ...error } });
  }

  /** The number of mails to be sent, and the age of the oldest in milliseconds, 0 without any. */
  async waiting(): Promise<{ count: number; oldestMs: number }> {
    const waiting = { dueAt: { $gt: new Date(0) } };
    const count = await this.records.count(waiting);
    if (count === 0) return { count, oldestMs: 0 };
    const first = await this.records.find(waiting, {
      projection: { createdAt: 1 },
      sort: { dueAt: 1 },
      limit: OLDEST_AMONG,
    });
    const now = this.clock.now().getTime();
    const oldest = Math.min(now, ...first.map(({ createdAt }) => createdAt.getTime()));
    return { count, oldestMs: now - oldest };
  }

  /** A page of the mails that were given up, of those written since a time; the newest first. */
  failed(page: KeysetPage, from: Date): Promise<Mail[]> {
    const filter = { state: 'failed', ...beyond<Mail>('createdAt', page, { from }) } as const;
    return this.records.find(filter, { sort: { createdAt: -1, _id: -1 }, limit: page.limit });
  }

  /** Sends a mail at the next opportunity that waits or was given up. @returns undefined when there is none. */
  retry(id: string): Promise<Mail | undefined> {
    const unsent = { state: { $in: ['waiting', 'failed'] } } as mongo.Filter<Mail>;
    return this.hasten(id, { $set: { state: 'waiting' }, $unset: { endedAt: '' } }, unsent);
  }

  /** @returns the number of deleted mails. */
  deleteOld(now: Date): Promise<number> {
    return this.records.deleteMany({ createdAt: { $lt: new Date(now.getTime() - KEPT_MS) } });
  }
}
