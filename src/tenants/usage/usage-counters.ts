import type { Connection } from 'mongoose';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { RenderReport } from '../../render/report/phases.ts';
import { errorCategory } from './error-category.ts';
import { dayOf, LONGEST_PERIOD_MS } from './periods.ts';
import { type Tally, totalUsage } from './tallies.ts';
import { binOf, type SeriesPoint, type SeriesQuery, seriesOf } from './usage-series.ts';

/** The outcome of one request for a render: the outcome of its job, or the reason of its rejection. */
interface UsageEvent {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly at: Date;
  /** Undefined for a success. */
  readonly errorCode: ErrorCode | undefined;
  /** The PDF, and the milliseconds of its render and of each phase; absent without a PDF. */
  readonly rendered?: {
    readonly pages: number;
    readonly bytes: number;
    readonly ms: number;
    readonly phases?: RenderReport['phases'] | undefined;
  };
}

/** The outcome of a job, counted once by its id. */
export interface JobOutcome extends UsageEvent {
  readonly jobId: string;
}

/** The requests of one account with one key on one day (UTC), and in each of its hours. */
export interface UsageBucket extends Tally {
  /** `<account>:<day>:<key>` */
  readonly _id: string;
  readonly accountId: string;
  readonly day: string;
  /** `0` to `23` → the requests of that hour. */
  readonly hours?: Readonly<Record<string, Omit<Tally, 'apiKeyId'>>>;
  /** Ids of counted jobs whose end may be followed up once more. */
  readonly counted?: Readonly<Record<string, 1>>;
}

/** Longer than a sweep takes between its read of a job and its count, in milliseconds. */
const KEPT_MS = 15_000;

const BUCKETS: CollectionSpec = {
  name: 'usage_buckets',
  account: 'accountId',
  indexes: [{ fields: { accountId: 1, day: 1 } }, { fields: { day: 1 } }],
};

/**
 * Counts requests as they end, in buckets of a day, account and key; totals are read from the buckets. The outcome of a
 * job is counted exactly once, even after a crash, because the bucket names the jobs that were counted last.
 */
export class UsageCounters {
  readonly #buckets: Collection<UsageBucket>;
  readonly #events: WriteBehind<UsageEvent>;
  readonly #keptMs: number;

  /** @param keptMs how long the ids of counted jobs are kept, in milliseconds. */
  constructor(connection: Connection, logger: Logger, keptMs = KEPT_MS) {
    this.#keptMs = keptMs;
    this.#buckets = new Collection(connection, BUCKETS);
    this.#events = new WriteBehind((batch) => this.#count(batch), logger);
  }

  /** Counted within a second; never fails. */
  record(event: UsageEvent): void {
    this.#events.add(event);
  }

  flush(): Promise<void> {
    return this.#events.flush();
  }

  /** @param since a whole hour. */
  async usage(accountId: string, since: Date) {
    return totalUsage(await this.#tallies(accountId, since));
  }

  /** How many requests accounts have made, and how many have failed. @param since a whole hour. */
  async requestsOf(
    accountIds: readonly string[],
    since: Date,
  ): Promise<Map<string, { readonly requests: number; readonly failed: number }>> {
    const firstDay = dayOf(since);
    const totals = new Map(accountIds.map((id) => [id, { requests: 0, failed: 0 }]));
    const buckets = await this.#buckets.find(
      { accountId: { $in: [...accountIds] }, day: { $gte: firstDay } },
      { projection: { counted: 0, codes: 0, refusedCodes: 0, phases: 0, ms: 0, errors: 0 } },
    );
    for (const { accountId, day, hours = {}, ...bucket } of buckets) {
      const counted =
        day === firstDay
          ? Object.entries(hours).flatMap(([hour, tally]) =>
              Number(hour) >= since.getUTCHours() ? [tally] : [],
            )
          : [bucket];
      const sums = totals.get(accountId)!;
      for (const { total = 0, failed = 0 } of counted) {
        sums.requests += total;
        sums.failed += failed;
      }
    }
    return totals;
  }

  /**
   * The counts by hour or by day since then, including intervals without requests.
   *
   * @param since a whole hour, or a whole day.
   * @param apiKeyId only requests with this key.
   */
  async series(
    accountId: string,
    { since, now, interval, apiKeyId }: SeriesQuery & { readonly since: Date; readonly now: Date },
  ): Promise<SeriesPoint[]> {
    const buckets = await this.#buckets.find(
      { accountId, day: { $gte: dayOf(since) } },
      { projection: interval === 'day' ? { hours: 0, counted: 0 } : { counted: 0 } },
    );
    const own = apiKeyId === undefined ? buckets : buckets.filter((bucket) => bucket.apiKeyId === apiKeyId);
    return seriesOf(own, { since, now, interval });
  }

  /** Deletes buckets that are older than the longest period of a report. @returns the number of deleted buckets. */
  deleteOld(now: Date): Promise<number> {
    const before = dayOf(new Date(now.getTime() - LONGEST_PERIOD_MS));
    return this.#buckets.deleteMany({ day: { $lt: before } });
  }

  async #tallies(accountId: string, since: Date): Promise<Tally[]> {
    const firstDay = dayOf(since);
    const [first, whole] = await Promise.all([
      this.#buckets.find({ accountId, day: firstDay }),
      this.#buckets.find({ accountId, day: { $gt: firstDay } }, { projection: { hours: 0 } }),
    ]);
    const partial = first.flatMap(({ apiKeyId, hours = {} }) =>
      Object.entries(hours)
        .filter(([hour]) => Number(hour) >= since.getUTCHours())
        .map(([, tally]) => ({ ...tally, apiKeyId })),
    );
    return [...partial, ...whole];
  }

  /** Counts the outcomes of jobs; a job that was counted before is not counted again. */
  async countEnds(outcomes: readonly JobOutcome[]): Promise<void> {
    for (const [id, together] of Map.groupBy(outcomes, bucketOf)) {
      if (await this.#countOnce(id, together)) continue;
      // Some of the jobs were counted before, by a process that died before it could record that.
      for (const outcome of together) await this.#countOnce(id, [outcome]);
    }
  }

  /**
   * The ends of these jobs have been followed up. Their ids are kept for a while, because a sweep that took this
   * process for dead may be about to count them again. An id that is never deleted does no harm.
   */
  forgetEnds(outcomes: readonly JobOutcome[]): void {
    const timer = setTimeout(() => {
      this.#forget(outcomes).catch(() => undefined);
    }, this.#keptMs);
    timer.unref();
  }

  async #forget(outcomes: readonly JobOutcome[]): Promise<void> {
    for (const [id, together] of Map.groupBy(outcomes, bucketOf)) {
      await this.#buckets.updateOne({ _id: id }, { $unset: names(together, '') });
    }
  }

  /** @returns false, without a change, when at least one of the jobs was counted before. */
  async #countOnce(id: string, outcomes: readonly JobOutcome[]): Promise<boolean> {
    const notCounted = names(outcomes, { $exists: false });
    const update = { ...increments(outcomes), $set: names(outcomes, 1) };
    // Without the ids of counted jobs, which may be many and are not needed.
    const counted = await this.#buckets.upsertMatching({ _id: id, ...notCounted }, update, { _id: 1 });
    return counted !== undefined;
  }

  async #count(batch: readonly UsageEvent[]): Promise<void> {
    const groups = Map.groupBy(batch, bucketOf);
    await this.#buckets.upsertAll([...groups].map(([id, events]) => ({ id, update: increments(events) })));
  }
}

function bucketOf({ accountId, at, apiKeyId }: UsageEvent): string {
  return `${accountId}:${dayOf(at)}:${apiKeyId}`;
}

/** @param events events of one bucket. */
function increments(events: readonly UsageEvent[]) {
  const inc: Record<string, number> = {};
  for (const event of events) {
    for (const [field, count] of countsOf(event)) {
      for (const path of [field, `hours.${event.at.getUTCHours()}.${field}`])
        inc[path] = (inc[path] ?? 0) + count;
    }
  }
  const [{ accountId, apiKeyId, at }] = events as [UsageEvent];
  return { $inc: inc, $setOnInsert: { accountId, day: dayOf(at), apiKeyId } };
}

function names<T>(outcomes: readonly JobOutcome[], value: T): Record<string, T> {
  return Object.fromEntries(outcomes.map(({ jobId }) => [`counted.${jobId}`, value]));
}

/** The fields to increment for an event, and by how much. A failure without a job is a request that was refused. */
function countsOf(event: UsageEvent | JobOutcome): [field: string, count: number][] {
  const { errorCode, rendered } = event;
  if (errorCode !== undefined) {
    const refused: [field: string, count: number][] = [
      ['refused', 1],
      [`refusedCodes.${errorCode}`, 1],
    ];
    return [
      ['total', 1],
      ['failed', 1],
      [`errors.${errorCategory(errorCode)}`, 1],
      [`codes.${errorCode}`, 1],
      ...('jobId' in event ? [] : refused),
    ];
  }
  if (rendered === undefined) return [['total', 1]];
  const { pages, bytes, ms, phases = {} } = rendered;
  return [
    ['total', 1],
    ['pages', pages],
    ['bytes', bytes],
    [`ms.${binOf(ms)}`, 1],
    ...Object.entries<number>(phases).map(
      ([phase, spent]) => [`phases.${phase}`, Math.round(spent)] as [string, number],
    ),
  ];
}
