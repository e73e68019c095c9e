import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';
import type { DoneBy } from '../audit/audit-log.ts';

/** What a takeover ends, or keeps for its new owner to check. */
export type TakeoverSubject = 'apiKeys' | 'signingKeys' | 'batches' | 'renders' | 'callbacks' | 'templates';
export type TakeoverCounts = Readonly<Partial<Record<TakeoverSubject, number>>>;

/** A takeover whose consequences are not all there yet. */
export interface Takeover extends Due {
  readonly _id: string;
  /** Of the new owner. */
  readonly ownerFence: number;
  readonly startedAt: Date;
  readonly by: DoneBy;
  readonly counts?: TakeoverCounts;
  /** The new owner has been notified. */
  readonly reported?: true;
}

/** How long a process has for a pass of a takeover before another one continues, in milliseconds. */
const LEASE_MS = 15_000;

const TAKEOVERS: CollectionSpec = { name: 'account_takeovers', account: '_id', indexes: [DUE_INDEX] };

/** Owns the takeovers of accounts whose consequences have to be carried out. */
export class TakeoverStore extends DueQueue<Takeover> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(new Collection<Takeover>(connection, TAKEOVERS), clock, { leaseMs: LEASE_MS });
  }

  /** Notes a takeover that is about to happen; due if this process does not carry it out. */
  async begin(accountId: string, ownerFence: number, by: DoneBy): Promise<void> {
    const set = { ownerFence, startedAt: this.clock.now(), by };
    await this.schedule(accountId, this.leaseEnd(), { $set: set, $unset: { counts: '', reported: '' } });
  }

  /** Counts what a step has ended, or, for a step that keeps it, what it has found. */
  async count(accountId: string, subject: TakeoverSubject, count: number, isKept: boolean): Promise<void> {
    const change = { [`counts.${subject}`]: count };
    await this.records.updateOne({ _id: accountId }, isKept ? { $max: change } : { $inc: change });
  }
}
