import type { mongo } from 'mongoose';
import { type EndState, hasEnded, type Job, type JobState } from '../job.ts';
import type { JobCollections } from './collections.ts';

export interface JobListQuery {
  readonly accountId: string;
  /** Only jobs of test keys, or only jobs of live keys; both when absent. */
  readonly test?: boolean;
  /** Only jobs created at or after `from`, and before `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** States to list; all when absent. */
  readonly states?: readonly JobState[];
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** What determines a job's position in the list: a page far down skips many jobs, which are not read whole. */
type ListPosition = Pick<Job, '_id' | 'createdAt'>;

interface Page {
  readonly sort: { readonly createdAt: 1 | -1; readonly _id: 1 | -1 };
  readonly limit: number;
}

const END_STATES: readonly EndState[] = ['completed', 'failed', 'cancelled'];

/** One page of an account's jobs, live and ended, and the total number of matching jobs. */
export async function listJobs(
  { live, history }: JobCollections,
  query: JobListQuery,
  now: Date,
): Promise<{ total: number; jobs: Job[] }> {
  const filter: mongo.Filter<Job> = {
    accountId: query.accountId,
    // Items of batches are listed with their batch.
    item: { $exists: false },
    ...(query.test !== undefined && { test: query.test }),
    ...(query.states && { state: { $in: [...query.states] } }),
    ...madeWithin(query),
  };
  const visible: mongo.Filter<Job> = { ...filter, expiresAt: { $gt: now } };
  // Ended jobs that have not been moved yet are counted as part of the history.
  const stillLive: mongo.Filter<Job> = { ...filter, expiresAt: null };
  const upTo = query.offset + query.limit;
  const sign = query.newestFirst ? -1 : 1;
  const page: Page = { sort: { createdAt: sign, _id: sign }, limit: upTo };
  // One after the other, in the direction in which jobs move: a job that moves in between is seen twice, never missed.
  const [liveJobs, liveTotal] = await Promise.all([live.find(stillLive, page), live.count(stillLive)]);
  // All of them, so that they can be counted; they have ended only moments ago.
  const movingJobs = await live.find(visible);
  const moving = movingJobs.map(({ _id }) => _id);
  const endedLists = historyParts(query).map((part) => listEnded(history, part, { moving, page, now }));
  const ended = await Promise.all(endedLists);
  const gathered: ListPosition[] = [
    ...liveJobs,
    ...movingJobs,
    ...ended.flatMap(({ positions }) => positions),
  ];
  // A job that ended between two of these queries is in both results; the later one counts.
  const once = new Map(gathered.map((job) => [job._id, job]));
  const shown = [...once.values()]
    .sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1)))
    .slice(query.offset, upTo)
    .map(({ _id }) => _id);
  const known = new Map([...liveJobs, ...movingJobs].map((job) => [job._id, job]));
  const inHistory = new Set(ended.flatMap(({ positions }) => positions.map(({ _id }) => _id)));
  for (const job of await findAll(history, shown, inHistory)) known.set(job._id, job);
  // Some of them may have been deleted since.
  const jobs = shown.flatMap((id) => known.get(id) ?? []);
  const seenTwice = gathered.length - once.size;
  const endedTotal = ended.reduce((sum, { total }) => sum + total, 0);
  return { total: liveTotal + movingJobs.length + endedTotal - seenTwice, jobs };
}

export function madeWithin({ from, to }: Pick<JobListQuery, 'from' | 'to'>): mongo.Filter<Job> {
  if (from === undefined && to === undefined) return {};
  return { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } };
}

/** The parts of the history that match the query; the index sorts each part by time. */
export function historyParts({
  accountId,
  test,
  states = END_STATES,
  ...query
}: JobListQuery): mongo.Filter<Job>[] {
  const tests = test === undefined ? [false, true] : [test];
  return tests.flatMap((isTest) =>
    states
      .filter(hasEnded)
      // A job that is no item of a batch has null here, because the path is missing.
      .map(
        (state) =>
          ({
            accountId,
            'item.batchId': null,
            test: isTest,
            state,
            ...madeWithin(query),
          }) as mongo.Filter<Job>,
      ),
  );
}

/**
 * The first positions in a part of the history, and the number of its jobs. The expired jobs are subtracted from the
 * total, because the index counts the total and only the few expired jobs have to be read.
 */
async function listEnded(
  history: JobCollections['history'],
  part: mongo.Filter<Job>,
  { moving, page, now }: { readonly moving: readonly string[]; readonly page: Page; readonly now: Date },
): Promise<{ total: number; positions: ListPosition[] }> {
  const moved = moving.length === 0 ? part : { ...part, _id: { $nin: [...moving] } };
  const [positions, expired, all] = await Promise.all([
    history.find({ ...moved, expiresAt: { $gt: now } }, { ...page, projection: { createdAt: 1 } }),
    history.count({ ...moved, expiresAt: { $lte: now } }),
    history.count(moved),
  ]);
  return { total: all - expired, positions };
}

/** The given jobs that were found in the history. */
async function findAll(
  history: JobCollections['history'],
  jobIds: readonly string[],
  inHistory: ReadonlySet<string>,
): Promise<Job[]> {
  const ids = jobIds.filter((id) => inHistory.has(id));
  return ids.length === 0 ? [] : history.find({ _id: { $in: ids } });
}
