import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';
import type { DoneBy } from '../audit/audit-log.ts';

/** An account that is being deleted, or is about to be. */
export interface NotedDeletion extends Due {
  /** The account. */
  readonly _id: string;
  readonly notedAt: Date;
  /** Who asked for it first. */
  readonly by: DoneBy;
}

/** How long a process has for one pass before another one continues, in milliseconds, unless it renews its claim. */
const LEASE_MS = 15_000;
/** A deletion that fails is tried again after this time at the latest, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

const DELETIONS: CollectionSpec = {
  name: 'account_deletions',
  account: { step: 'account' },
  indexes: [DUE_INDEX],
};

/** Owns the deletions of accounts that are not finished. */
export class DeletionStore extends DueQueue<NotedDeletion> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(new Collection<NotedDeletion>(connection, DELETIONS), clock, {
      leaseMs: LEASE_MS,
      backoff: { firstMs: 1000, maxMs: LONGEST_WAIT_MS },
    });
  }

  /** Notes a deletion that is about to begin. One that is noted already stays as it is. */
  async note(accountId: string, by: DoneBy): Promise<void> {
    const notedAt = this.clock.now();
    await this.records.insertIfAbsent({ _id: accountId, notedAt, by, dueAt: this.leaseEnd(), fence: 0 });
  }
}
