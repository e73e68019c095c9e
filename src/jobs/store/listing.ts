import type { mongo } from 'mongoose';
import type { Job, JobState } from '../job.ts';
import type { JobCollections } from './collections.ts';

export interface JobListQuery {
  readonly accountId: string;
  /** Those of test keys, or those of live keys; both when absent. */
  readonly test?: boolean;
  /** States to list; all when absent. */
  readonly states?: readonly JobState[];
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** A page of an account's jobs, live ones and those that have ended, with the number there is in all. */
export async function listJobs(
  { live, history }: JobCollections,
  query: JobListQuery,
  now: Date,
): Promise<{ total: number; jobs: Job[] }> {
  const filter: mongo.Filter<Job> = {
    accountId: query.accountId,
    // Items of batches are listed by their batch.
    item: { $exists: false },
    ...(query.test !== undefined && { test: query.test }),
    ...(query.states && { state: { $in: [...query.states] } }),
  };
  const visible: mongo.Filter<Job> = { ...filter, expiresAt: { $gt: now } };
  // What has ended but not been moved yet is counted where it is going to be.
  const stillLive: mongo.Filter<Job> = { ...filter, expiresAt: null };
  const upTo = query.offset + query.limit;
  const page = { sort: { createdAt: query.newestFirst ? -1 : 1 } as const, limit: upTo };
  // The history second: a job that moves in between is seen in both then, and never in neither.
  const [liveJobs, movingJobs, liveTotal] = await Promise.all([
    live.find(stillLive, page),
    // All of them, to be counted: they are what has ended within the last moments.
    live.find(visible),
    live.count(stillLive),
  ]);
  const moving = movingJobs.map(({ _id }) => _id);
  const moved: mongo.Filter<Job> = moving.length === 0 ? visible : { ...visible, _id: { $nin: moving } };
  const [endedJobs, endedTotal] = await Promise.all([history.find(moved, page), history.count(moved)]);
  const gathered = [...liveJobs, ...movingJobs, ...endedJobs];
  // One that ended between two of these looks is in both, and shown as it was seen last.
  const once = new Map(gathered.map((job) => [job._id, job]));
  const sign = query.newestFirst ? -1 : 1;
  const jobs = [...once.values()]
    .sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime()) || (a._id < b._id ? -1 : 1))
    .slice(query.offset, upTo);
  const seenTwice = gathered.length - once.size;
  return { total: liveTotal + movingJobs.length + endedTotal - seenTwice, jobs };
}
