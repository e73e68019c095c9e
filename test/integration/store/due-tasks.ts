import type { Connection } from 'mongoose';
import type { Clock } from '../../../src/infra/clock.ts';
import { Collection, type CollectionSpec } from '../../../src/infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../../src/infra/store/due-queue.ts';

export interface Task extends Due {
  readonly owner: string;
  readonly outcome?: string;
}

export const TASKS: CollectionSpec = {
  name: 'tasks',
  account: { none: 'a test has none' },
  indexes: [DUE_INDEX],
  filtersBy: { fields: ['owner'], reason: 'the index leads to what is due' },
};

export const LEASE_MS = 30_000;
const BACKOFF = { firstMs: 1000, maxMs: 8000 };

/** A due-queue of tasks; its waits after failures are as short as they may be. */
export function openTasks(connection: Connection, clock: Clock, leaseMs = LEASE_MS): DueQueue<Task> {
  const options = { leaseMs, backoff: BACKOFF, random: () => 0 };
  return new DueQueue(new Collection<Task>(connection, TASKS), clock, options);
}
