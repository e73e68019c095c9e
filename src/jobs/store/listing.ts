import type { mongo } from 'mongoose';
import { type EndState, hasEnded, type Job, type JobState } from '../job.ts';
import type { JobCollections } from './collections.ts';

export interface JobListQuery {
  readonly accountId: string;
  /** Those of test keys, or those of live keys; both when absent. */
  readonly test?: boolean;
  /** Only what was made then or later, and only what was made before that. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** States to list; all when absent. */
  readonly states?: readonly JobState[];
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** What says where in the list a job is. A page that begins far down the list passes by many, which are not read whole. */
type ListPosition = Pick<Job, '_id' | 'createdAt'>;

interface Page {
  readonly sort: { readonly createdAt: 1 | -1; readonly _id: 1 | -1 };
  readonly limit: number;
}

const END_STATES: readonly EndState[] = ['completed', 'failed', 'cancelled'];

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
    ...madeWithin(query),
  };
  const visible: mongo.Filter<Job> = { ...filter, expiresAt: { $gt: now } };
  // What has ended but not been moved yet is counted where it is going to be.
  const stillLive: mongo.Filter<Job> = { ...filter, expiresAt: null };
  const upTo = query.offset + query.limit;
  const sign = query.newestFirst ? -1 : 1;
  const page: Page = { sort: { createdAt: sign, _id: sign }, limit: upTo };
  // One after the other, in the order in which a job goes: one that moves in between is seen twice, and never missed.
  const [liveJobs, liveTotal] = await Promise.all([live.find(stillLive, page), live.count(stillLive)]);
  // All of them, to be counted: they are what has ended within the last moments.
  const movingJobs = await live.find(visible);
  const moving = movingJobs.map(({ _id }) => _id);
  const endedLists = fieldsOf(query).map((part) => listEnded(history, part, { moving, page, now }));
  const ended = await Promise.all(endedLists);
  const gathered: ListPosition[] = [
    ...liveJobs,
    ...movingJobs,
    ...ended.flatMap(({ positions }) => positions),
  ];
  // A job that ended between two of these queries is in both, and shown as it was seen last.
  const once = new Map(gathered.map((job) => [job._id, job]));
  const shown = [...once.values()]
    .sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1)))
    .slice(query.offset, upTo)
    .map(({ _id }) => _id);
  const known = new Map([...liveJobs, ...movingJobs].map((job) => [job._id, job]));
  const inHistory = new Set(ended.flatMap(({ positions }) => positions.map(({ _id }) => _id)));
  for (const job of await findAll(history, shown, inHistory)) known.set(job._id, job);
  // Of those, some may have been deleted since.
  const jobs = shown.flatMap((id) => known.get(id) ?? []);
  const seenTwice = gathered.length - once.size;
  const endedTotal = ended.reduce((sum, { total }) => sum + total, 0);
  return { total: liveTotal + movingJobs.length + endedTotal - seenTwice, jobs };
}

function madeWithin({ from, to }: Pick<JobListQuery, 'from' | 'to'>): mongo.Filter<Job> {
  if (from === undefined && to === undefined) return {};
  return { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } };
}

/** The parts of the history that the query is about, each of which lies in the order of time in the index. */
function fieldsOf({ accountId, test, states = END_STATES, ...query }: JobListQuery): mongo.Filter<Job>[] {
  const tests = test === undefined ? [false, true] : [test];
  return tests.flatMap((isTest) =>
    states
      .filter(hasEnded)
      // Null is what a job has that is no item of a batch: a path below one that is missing.
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
 * The first of a part of the history, and how many it has. What has expired is subtracted from all, rather than the others
 * counted one by one: so the many are counted in the index, and only the few read.
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

/** Those of the jobs that were found in the history. */
async function findAll(
  history: JobCollections['history'],
  jobIds: readonly string[],
  inHistory: ReadonlySet<string>,
): Promise<Job[]> {
  const ids = jobIds.filter((id) => inHistory.has(id));
  return ids.length === 0 ? [] : history.find({ _id: { $in: ids } });
}
