import type { Connection } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import type { Job } from '../job.ts';
import { openJobCollections } from './collections.ts';
import { type FindQuery, findJobs } from './find-jobs.ts';
import { JobHistory } from './history.ts';
import { JobInputs } from './input-store.ts';
import { type JobListQuery, listJobs } from './listing.ts';
import { LiveJobs } from './live-jobs.ts';
import { ScheduledRetries } from './scheduled-retries.ts';
import { JobSearch } from './search.ts';
import { Transitions } from './transitions.ts';

/** To be created before the connection's indexes. */
export function openJobStore(connection: Connection, clock: Clock) {
  const collections = openJobCollections(connection);
  const live = new LiveJobs(collections);
  const history = new JobHistory(collections);
  /** A job of any account, live or ended, if its retention has not ended. */
  const findAny = async (jobId: string): Promise<Job | undefined> => {
    // A job may move between the two lookups, but only from live to history.
    const job = (await live.find(jobId)) ?? (await history.find(jobId));
    return job?.expiresAt != null && job.expiresAt <= clock.now() ? undefined : job;
  };
  return {
    transitions: new Transitions(collections, clock),
    live,
    retries: new ScheduledRetries(collections, clock),
    inputs: new JobInputs(collections),
    history,
    /** Over all accounts, for the operator of the service. */
    search: new JobSearch(collections),
    findAny,
    /** A job, live or ended, if it belongs to the account and its retention has not ended. */
    async find(accountId: string, jobId: string) {
      const job = await findAny(jobId);
      return job?.accountId === accountId ? job : undefined;
    },
    /** One page of an account's jobs, live and ended, and the total number of matching jobs. */
    list: (query: JobListQuery) => listJobs(collections, query, clock.now()),
    /** The same by terms that no index has, among a bounded number of jobs. */
    findBy: (query: FindQuery) => findJobs(collections, query, clock.now()),
  };
}

/** Owns the collections of jobs: every query and every change is a function of one of these parts. */
export type JobStore = ReturnType<typeof openJobStore>;
