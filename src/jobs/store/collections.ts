import type { Connection, mongo } from 'mongoose';
import { Collection, type CollectionSpec } from '../../store/collection.ts';
import { DUE_INDEX, type Due } from '../../store/due-queue.ts';
import type { Job } from '../job.ts';

/**
 * An input as it is stored: what was sent is kept as JSON text in one binary field. As nested documents, arrays of
 * numbers would take many times the room, and deep data would meet the database's nesting limit.
 */
export interface StoredInput {
  readonly _id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly content: mongo.Binary;
  /** Parts that it has in common with other inputs, by what they are: their ids. */
  readonly shared?: Readonly<{ readonly markup?: string; readonly options?: string }>;
}

/** What several inputs have in common. */
export interface StoredChunk {
  readonly _id: string;
  /** UTF-8. */
  readonly content: mongo.Binary;
}

/** A job that waits for the time of its next attempt. */
export interface ScheduledRetry extends Due {
  /** The job's id. */
  readonly _id: string;
  readonly accountId: string;
}

/**
 * What the job store keeps. What is hot stays small:
 *
 * - `jobs` holds what is waiting or running (and, for moments, what has just ended);
 * - `job_retries` which of those wait for the time of their next attempt;
 * - `job_history` what has ended, until its retention ends;
 * - `job_inputs` the documents to render, deleted when the job has completed;
 * - `job_input_parts` what several of them have in common.
 */
export interface JobCollections {
  readonly live: Collection<Job>;
  readonly retries: Collection<ScheduledRetry>;
  readonly history: Collection<Job>;
  readonly inputs: Collection<StoredInput>;
  readonly chunks: Collection<StoredChunk>;
}

const LIVE: CollectionSpec = {
  name: 'jobs',
  indexes: [
    // Compare-and-set by exactly these two fields is one index look-up on every supported database.
    { fields: { _id: 1, version: 1 }, unique: true },
    // The next job in a queue is found by its position.
    { fields: { place: 1 }, unique: true, sparse: true },
    // The live part of a listing.
    { fields: { accountId: 1, createdAt: 1, _id: 1 } },
  ],
  replaced: [{ accountId: 1, createdAt: 1 }],
  filtersBy: {
    fields: ['state', 'owner', 'expiresAt', 'item', 'test'],
    reason: 'the index leads to the jobs of one account, or to some jobs by their ids',
  },
};

const RETRIES: CollectionSpec = {
  name: 'job_retries',
  indexes: [DUE_INDEX, { fields: { accountId: 1 } }],
  replaced: [{ dueAt: 1 }],
};

const HISTORY: CollectionSpec = {
  name: 'job_history',
  indexes: [
    // Unique, as the id in them is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
    { fields: { accountId: 1, 'item.batchId': 1, test: 1, state: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { expiresAt: 1, _id: 1 }, unique: true },
  ],
  replaced: [{ accountId: 1, createdAt: -1 }, { accountId: 1, state: 1, createdAt: -1 }, { expiresAt: 1 }],
  filtersBy: {
    fields: ['expiresAt', '_id'],
    reason: 'what has expired is deleted within a minute, and few jobs are on their way here',
  },
};

const INPUTS: CollectionSpec = { name: 'job_inputs' };
const INPUT_CHUNKS: CollectionSpec = { name: 'job_input_parts' };

export function openJobCollections(connection: Connection): JobCollections {
  return {
    live: new Collection<Job>(connection, LIVE),
    retries: new Collection<ScheduledRetry>(connection, RETRIES),
    history: new Collection<Job>(connection, HISTORY),
    inputs: new Collection<StoredInput>(connection, INPUTS),
    chunks: new Collection<StoredChunk>(connection, INPUT_CHUNKS),
  };
}
