import { beyond } from '../../../infra/store/keyset.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from './collections.ts';
import { historyParts, type JobListQuery, madeWithin } from './listing.ts';

/** Jobs that one search examines at most; what lies beyond is found by another search, which begins there. */
export const MOST_EXAMINED = 5000;
/** Ended jobs that are read with one query. */
const AT_ONCE = 500;

/** What a job must have; a term that is absent leaves nothing out. */
export interface FindTerms {
  /** A part of the file name, in either case, or of the id. */
  readonly text?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly templateId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** Milliseconds from its acceptance to its end, at least and at most; a job that has not ended has none. */
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
}

export interface FindQuery extends JobListQuery {
  readonly terms: FindTerms;
  /** The slowest first, in place of an order by time; jobs that have not ended come last. */
  readonly slowestFirst: boolean;
}

export interface Found {
  /** The number of matching jobs among those that were examined. */
  readonly total: number;
  readonly jobs: Job[];
  /**
   * Where the search ended before the end: the `to` of a search for older jobs, or, the oldest first, the `from` of one for
   * newer ones. Null when all were examined.
   */
  readonly searchedTo: Date | null;
}

/** The fields of an `Examined`. */
const EXAMINED: Readonly<Record<string, 1>> = {
  state: 1,
  createdAt: 1,
  completedAt: 1,
  expiresAt: 1,
  fileName: 1,
  templateId: 1,
  apiKeyId: 1,
  'error.code': 1,
};

type Examined = Pick<
  Job,
  | '_id'
  | 'state'
  | 'createdAt'
  | 'completedAt'
  | 'expiresAt'
  | 'fileName'
  | 'templateId'
  | 'apiKeyId'
  | 'error'
>;

/**
 * One page of the jobs of an account that match terms for which there is no index. It examines the first jobs in the order
 * of time, MOST_EXAMINED at most, and says where it has stopped: so it costs the same whatever an account keeps.
 */
export async function findJobs(collections: JobCollections, query: FindQuery, now: Date): Promise<Found> {
  const { limit, offset, newestFirst, slowestFirst, terms } = query;
  const examined = await firstJobs(collections, query, now);
  const next = examined[MOST_EXAMINED];
  const matching = examined.slice(0, MOST_EXAMINED).filter((job) => matches(job, terms));
  if (slowestFirst) matching.sort((a, b) => (tookMs(b) ?? -1) - (tookMs(a) ?? -1));
  const shown = matching.slice(offset, offset + limit).map(({ _id }) => _id);
  return {
    total: matching.length,
    jobs: await wholeJobs(collections, shown),
    // The end of a search is before `to`, so others of the same millisecond are among those of the next one.
    searchedTo: next === undefined ? null : new Date(next.createdAt.getTime() + (newestFirst ? 1 : 0)),
  };
}

function matches(job: Examined, { text, errorCode, templateId, apiKeyId, minMs, maxMs }: FindTerms): boolean {
  const wanted = text?.toLowerCase();
  const ms = tookMs(job);
  return (
    (wanted === undefined || job.fileName.toLowerCase().includes(wanted) || job._id.includes(wanted)) &&
    (errorCode === undefined || job.error?.code === errorCode) &&
    (templateId === undefined || job.templateId === templateId) &&
    (apiKeyId === undefined || job.apiKeyId === apiKeyId) &&
    (minMs === undefined || (ms !== undefined && ms >= minMs)) &&
    (maxMs === undefined || (ms !== undefined && ms <= maxMs))
  );
}

function tookMs({ createdAt, completedAt }: Examined): number | undefined {
  return completedAt === null ? undefined : completedAt.getTime() - createdAt.getTime();
}

/** The first jobs in the order of time, one more than are examined. */
async function firstJobs(
  { live, history }: JobCollections,
  query: FindQuery,
  now: Date,
): Promise<Examined[]> {
  const { accountId, test, states, newestFirst } = query;
  const sign = newestFirst ? -1 : 1;
  const sort = { createdAt: sign, _id: sign } as const;
  const isBefore = (a: Examined, b: Examined) =>
    (a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1)) * sign < 0;
  // First, because jobs move from here to the history: one that moves meanwhile is seen twice, never missed.
  const liveJobs: Examined[] = await live.find(
    {
      accountId,
      // Items of batches are listed with their batch.
      item: { $exists: false },
      ...(test !== undefined && { test }),
      ...(states && { state: { $in: [...states] } }),
      ...madeWithin(query),
    },
    { sort, limit: MOST_EXAMINED + 1, projection: EXAMINED },
  );
  const ended = historyParts(query).map((part) => new EndedJobs(history, part, query, now));
  const heads = await Promise.all(ended.map((each) => each.next()));
  const seen = new Set<string>();
  const first: Examined[] = [];
  const waiting = liveJobs.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  let waited = 0;
  while (first.length <= MOST_EXAMINED) {
    let from = -1;
    let best = waiting[waited];
    for (const [i, head] of heads.entries())
      if (head !== undefined && (best === undefined || isBefore(head, best))) {
        best = head;
        from = i;
      }
    if (best === undefined) break;
    if (from === -1) waited += 1;
    else heads[from] = await ended[from]!.next();
    if (!seen.has(best._id)) first.push(best);
    seen.add(best._id);
  }
  return first;
}

/** The jobs of a part of the history one after the other, of which AT_ONCE are in memory. */
class EndedJobs {
  readonly #history: JobCollections['history'];
  readonly #part: ReturnType<typeof historyParts>[number];
  readonly #query: FindQuery;
  readonly #now: Date;
  #read: Examined[] = [];
  #at = 0;
  #isAll = false;

  constructor(
    history: JobCollections['history'],
    part: ReturnType<typeof historyParts>[number],
    query: FindQuery,
    now: Date,
  ) {
    this.#history = history;
    this.#part = part;
    this.#query = query;
    this.#now = now;
  }

  async next(): Promise<Examined | undefined> {
    if (this.#at === this.#read.length && !this.#isAll) await this.#readOn();
    const job = this.#read[this.#at];
    if (job !== undefined) this.#at += 1;
    return job;
  }

  async #readOn(): Promise<void> {
    const { newestFirst, from, to } = this.#query;
    const last = this.#read.at(-1);
    const sign = newestFirst ? -1 : 1;
    const after = last && { value: last.createdAt, id: last._id };
    this.#read = await this.#history.find(
      {
        ...this.#part,
        ...beyond<Job>('createdAt', { after }, { from, to, ascending: !newestFirst }),
        expiresAt: { $gt: this.#now },
      },
      { sort: { createdAt: sign, _id: sign }, limit: AT_ONCE, projection: EXAMINED },
    );
    this.#at = 0;
    this.#isAll = this.#read.length < AT_ONCE;
  }
}

/** The jobs with these ids, in this order; some may have been deleted since. */
async function wholeJobs({ live, history }: JobCollections, ids: readonly string[]): Promise<Job[]> {
  if (ids.length === 0) return [];
  const among = { _id: { $in: [...ids] } };
  const jobs: Job[] = await live.find(among);
  // Later, and so what is known of a job that has moved meanwhile.
  jobs.push(...(await history.find(among)));
  const known = new Map(jobs.map((job) => [job._id, job]));
  return ids.flatMap((id) => known.get(id) ?? []);
}
