import type { QueryFilter } from 'mongoose';
import type { Clock } from '../clock.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';
import { isOver, type Job, type JobState } from './job.ts';
import type { JobCollections } from './job-collections.ts';

/**
 * Moves what is over out of the hot collection: copy first, delete after, so that a crash in between leaves two
 * copies and never none. Inputs of completed jobs go; those of failed ones stay until their retention ends.
 */
export async function moveToHistory(collections: JobCollections, jobs: readonly Job[]): Promise<void> {
  const over = jobs.filter((job) => isOver(job.state));
  if (over.length === 0) return;
  try {
    await collections.history.collection.insertMany(over as never[], { ordered: false });
  } catch (error) {
    // Some were moved before, by a process that died before it could delete them here.
    if (!isDuplicateKey(error)) throw error;
  }
  const done = over.filter((job) => job.state === 'completed').map((job) => job._id);
  await Promise.all([
    collections.jobs.collection.deleteMany({ _id: { $in: over.map((job) => job._id) as never[] } }),
    done.length > 0 && collections.inputs.collection.deleteMany({ _id: { $in: done as never[] } }),
  ]);
}

export interface HistoryQuery {
  readonly accountId: string;
  /** States to list; all when absent. */
  readonly states?: readonly JobState[];
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** A job wherever it is, if it belongs to the account and its retention has not ended. */
export async function findJob(
  collections: JobCollections,
  accountId: string,
  jobId: string,
  clock: Clock,
): Promise<Job | undefined> {
  // It may move between the two look-ups, but only in this direction.
  const job = ((await collections.jobs.collection.findOne({ _id: jobId as never })) ??
    (await collections.history.collection.findOne({ _id: jobId as never }))) as Job | null;
  if (job === null || job.accountId !== accountId) return undefined;
  if (job.expiresAt !== null && job.expiresAt <= clock.now()) return undefined;
  return job;
}

/** A page of an account's jobs, live ones and those that are over, with the number there is in all. */
export async function listJobs(
  collections: JobCollections,
  query: HistoryQuery,
  clock: Clock,
): Promise<{ total: number; jobs: Job[] }> {
  const filter: QueryFilter<Job> = { accountId: query.accountId };
  if (query.states !== undefined) filter.state = { $in: [...query.states] };
  const visible: QueryFilter<Job> = { ...filter, expiresAt: { $gt: clock.now() } };
  const order = { createdAt: query.newestFirst ? (-1 as const) : (1 as const) };
  const upTo = query.offset + query.limit;
  // What has ended but not been moved yet is counted where it is going to be.
  const live: QueryFilter<Job> = { ...filter, expiresAt: null };
  // The history second: a job that moves in between is seen in both then, and never in neither.
  const [liveJobs, movingJobs, liveTotal] = await Promise.all([
    collections.jobs.find(live).sort(order).limit(upTo).lean(),
    // All of them, to be counted: they are what has ended within the last moments.
    collections.jobs.find(visible).lean(),
    collections.jobs.countDocuments(live),
  ]);
  const [overJobs, overTotal] = await Promise.all([
    collections.history.find(visible).sort(order).limit(upTo).lean(),
    collections.history.countDocuments(visible),
  ]);
  const moved = new Set(overJobs.map((job) => job._id));
  const present = [...liveJobs, ...movingJobs];
  const staying = present.filter((job) => !moved.has(job._id));
  const sign = query.newestFirst ? -1 : 1;
  const jobs = ([...staying, ...overJobs] as Job[])
    .sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime()) || (a._id < b._id ? -1 : 1))
    .slice(query.offset, upTo);
  const seenTwice = present.length - staying.length;
  return { total: liveTotal + movingJobs.length + overTotal - seenTwice, jobs };
}
