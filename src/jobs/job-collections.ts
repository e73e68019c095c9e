import { type Connection, type Model, type mongo, Schema } from 'mongoose';
import { collectionSchema } from '../store/collection-schema.ts';
import type { Job } from './job.ts';

/**
 * An input as it is stored: what was sent is kept as JSON text in one binary field. As nested documents, arrays of
 * numbers would take many times the room, and deep data would meet the database's nesting limit.
 */
export interface StoredInput {
  readonly _id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly content: mongo.Binary;
}

/**
 * Three collections, so that what is hot stays small:
 *
 * - `jobs` holds what is waiting or running (and, for moments, what has just ended);
 * - `job_history` what is over, until its retention ends;
 * - `job_inputs` the documents to render, deleted when the job has completed.
 *
 * Only this folder and `dispatch/` read them, and only lifecycle.ts and history.ts write them.
 */
export interface JobCollections {
  readonly jobs: Model<Job>;
  readonly history: Model<Job>;
  readonly inputs: Model<StoredInput>;
}

const mixed = Schema.Types.Mixed;

const jobFields = {
  _id: String,
  version: Number,
  state: String,
  accountId: String,
  apiKeyId: String,
  plan: String,
  class: String,
  priority: Number,
  test: Boolean,
  quotaPeriod: String,
  inputMode: String,
  outputMode: String,
  fileName: String,
  format: String,
  createdAt: Date,
  updatedAt: Date,
  dispatchedAt: Date,
  startedAt: Date,
  completedAt: Date,
  notBefore: Date,
  attempts: Number,
  maxAttempts: Number,
  crashes: Number,
  owner: String,
  leaseExpiresAt: Date,
  error: mixed,
  retentionHours: Number,
  expiresAt: Date,
  output: mixed,
  processingTimeMs: Number,
};

export function jobCollections(connection: Connection): JobCollections {
  const jobs = collectionSchema<Job>('jobs', jobFields);
  // Compare-and-set by exactly these two fields is one index look-up on every supported database.
  jobs.index({ _id: 1, version: 1 }, { unique: true });
  // The next waiting job of an account; the live part of a listing.
  jobs.index({ accountId: 1, state: 1, priority: 1, createdAt: 1 });
  // Sweeps: waiting, unclaimed, expired, not yet moved.
  jobs.index({ state: 1, updatedAt: 1 });
  jobs.index({ owner: 1, state: 1 });

  const history = collectionSchema<Job>('job_history', jobFields);
  history.index({ accountId: 1, createdAt: -1 });
  history.index({ accountId: 1, state: 1, createdAt: -1 });
  history.index({ expiresAt: 1 });

  const inputs = collectionSchema<StoredInput>('job_inputs', {
    _id: String,
    accountId: String,
    createdAt: Date,
    content: Buffer,
  });
  inputs.index({ createdAt: 1 });

  return {
    jobs: connection.model<Job>('Job', jobs),
    history: connection.model<Job>('JobHistory', history),
    inputs: connection.model<StoredInput>('JobInput', inputs),
  };
}
