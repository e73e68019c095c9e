import type { Connection, mongo } from 'mongoose';
import { Collection, type CollectionSpec } from '../../../infra/store/collection.ts';
import { DUE_INDEX, type Due } from '../../../infra/store/due-queue.ts';
import type { Job } from '../job.ts';

/**
 * An input as it is stored: the submitted fields as JSON text in one binary field. As nested documents, arrays of
 * numbers would take many times the space, and deep data would exceed the database's nesting limit.
 */
export interface StoredInput {
  readonly _id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly content: mongo.Binary;
  /** The ids of the parts that it shares with other inputs, by kind. */
  readonly shared?: Readonly<{ readonly markup?: string; readonly options?: string }>;
}

/** A live job as it is stored: with its input, if that is small and not shared (see stored-input.ts). */
export interface LiveJob extends Job {
  readonly input?: mongo.Binary;
}

/** A part that several inputs share. */
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

const LIVE: CollectionSpec = {
  name: 'jobs',
  account: { step: 'jobs' },
  indexes: [
    // Makes compare-and-set by exactly these two fields one index lookup on every supported database.
    { fields: { _id: 1, version: 1 }, unique: 'embedded' },
    // The next job in a queue is found by its position.
    { fields: { position: 1 }, unique: 'embedded', sparse: true },
    // For listing live jobs.
    { fields: { accountId: 1, createdAt: 1, _id: 1 } },
  ],
  filtersBy: {
    fields: ['state', 'owner', 'expiresAt', 'item', 'test', 'accountId', 'templateId', 'createdAt'],
    reason: 'the index leads to the jobs of one account, or to a range of their ids; live jobs are bounded',
  },
  large: ['input'],
};

const RETRIES: CollectionSpec = {
  name: 'job_retries',
  account: 'accountId',
  indexes: [DUE_INDEX, { fields: { accountId: 1 } }],
  filtersBy: { fields: ['sort dueAt'], reason: 'an account has as many as its plan lets wait' },
};

const HISTORY: CollectionSpec = {
  name: 'job_history',
  account: { step: 'jobs' },
  indexes: [
    {
      fields: { accountId: 1, 'item.batchId': 1, test: 1, state: 1, createdAt: 1, _id: 1 },
      unique: 'embedded',
    },
    { fields: { expiresAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { failureKey: 1 }, sparse: true },
  ],
  filtersBy: {
    fields: ['expiresAt', '_id', 'accountId', 'templateId', 'error.code', '$or'],
    reason:
      'what has expired is deleted within a minute, few jobs are on their way here, the operator looks for failures within a time, and `$or` leaves out jobs of one moment',
  },
};

const INPUTS: CollectionSpec = {
  name: 'job_inputs',
  account: { step: 'jobs' },
  filtersBy: {
    fields: ['createdAt'],
    reason: 'ids of jobs are always given, and what they have is one record each',
  },
};
const INPUT_CHUNKS: CollectionSpec = { name: 'job_input_chunks', account: { step: 'batches' } };

export function openJobCollections(connection: Connection) {
  return {
    live: new Collection<LiveJob>(connection, LIVE),
    retries: new Collection<ScheduledRetry>(connection, RETRIES),
    history: new Collection<Job>(connection, HISTORY),
    inputs: new Collection<StoredInput>(connection, INPUTS),
    chunks: new Collection<StoredChunk>(connection, INPUT_CHUNKS),
  };
}

/**
 * The collections of jobs. Frequently used collections stay small:
 *
 * - `jobs`: waiting and running jobs (and, for moments, jobs that have just ended);
 * - `job_retries`: the jobs among them that wait for the time of their next attempt;
 * - `job_history`: ended jobs, until their retention ends;
 * - `job_inputs`: the documents to render that are not in the record of their job, deleted when it has completed;
 * - `job_input_chunks`: the parts that several documents share.
 */
export type JobCollections = ReturnType<typeof openJobCollections>;
