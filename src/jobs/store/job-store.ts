import type { Connection } from 'mongoose';
import type { Clock } from '../../clock.ts';
import type { Job } from '../job.ts';
import { openJobCollections } from './collections.ts';
import { JobHistory } from './history.ts';
import { JobInputs } from './inputs.ts';
import { type JobListQuery, listJobs } from './listing.ts';
import { LiveJobs } from './live-jobs.ts';
import { ScheduledRetries } from './scheduled-retries.ts';
import { Transitions } from './transitions.ts';

/** Owns the collections of jobs: every query and every change of them is a function of one of these parts. */
export interface JobStore {
  readonly transitions: Transitions;
  readonly live: LiveJobs;
  readonly retries: ScheduledRetries;
  readonly inputs: JobInputs;
  readonly history: JobHistory;
  /** A job wherever it is, if it belongs to the account and its retention has not ended. */
  find(accountId: string, jobId: string): Promise<Job | undefined>;
  /** A page of an account's jobs, live ones and those that have ended, with the number there is in all. */
  list(query: JobListQuery): Promise<{ total: number; jobs: Job[] }>;
}

/** To be made before the connection's indexes are. */
export function openJobStore(connection: Connection, clock: Clock): JobStore {
  const collections = openJobCollections(connection);
  const live = new LiveJobs(collections);
  const history = new JobHistory(collections);
  return {
    transitions: new Transitions(collections, clock),
    live,
    retries: new ScheduledRetries(collections, clock),
    inputs: new JobInputs(collections),
    history,
    async find(accountId, jobId) {
      // It may move between the two look-ups, but only in this direction.
      const job = (await live.find(jobId)) ?? (await history.find(jobId));
      if (job === undefined || job.accountId !== accountId) return undefined;
      return job.expiresAt !== null && job.expiresAt <= clock.now() ? undefined : job;
    },
    list: (query) => listJobs(collections, query, clock.now()),
  };
}
