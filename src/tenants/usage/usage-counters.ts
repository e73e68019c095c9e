import type { Connection } from 'mongoose';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { RenderReport } from '../../render/report/phases.ts';
import { errorCategory } from './error-category.ts';
import { dayOf, LONGEST_PERIOD_MS } from './periods.ts';
import { endsIn, type RenderEnds, type Tally, totalUsage } from './tallies.ts';
import { binOf, type SeriesPoint, type SeriesQuery, seriesOf } from './usage-series.ts';

/** The outcome of one request for a render: the outcome of its job, or the reason of its rejection. */
export interface UsageEvent {
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

/** The requests of one account with one key on one day (UTC), and in each of its hours. */
export interface UsageBucket extends Tally {
  /** `<account>:<day>:<key>` */
  readonly _id: string;
  readonly accountId: string;
  readonly day: string;
  /** `0` to `23` → the requests of that hour. */
  readonly hours?: Readonly<Record<string, Omit<Tally, 'apiKeyId'>>>;
  /** The number of the last batch of `UncountedUsage` that was added. */
  readonly added?: number;
}

/** Counts by `hourAndKey`. */
export type UsageByHour = Readonly<Record<string, Omit<Tally, 'apiKeyId'>>>;

/** The outcomes of an account's jobs that were counted elsewhere, and are not in the buckets yet. */
export interface UncountedUsage {
  /** How many batches have been taken out of it so far, which is the number of the last one. */
  readonly batches?: number;
  /** That last batch, until it has been added to all of its buckets. */
  readonly batch?: UsageByHour;
  readonly usage?: UsageByHour;
}

/** Reads it for these accounts; those without any may be missing. */
export type ReadUncounted = (accountIds: readonly string[]) => Promise<ReadonlyMap<string, UncountedUsage>>;

/** Reads of what others move meanwhile. */
const TRIES = 3;
const HOUR_MS = 3_600_000;

const BUCKETS: CollectionSpec = {
  name: 'usage_buckets',
  account: 'accountId',
  indexes: [{ fields: { accountId: 1, day: 1 } }, { fields: { day: 1 } }],
};

/**
 * Requests that have ended, in buckets of a day, account and key. Rejected ones are counted here. The outcomes of jobs are
 * counted by the updates in which accounts get back what the jobs held, so that each counts exactly once whatever process
 * dies, and are added to the buckets in batches hours later. Totals are those of both.
 */
export class UsageCounters {
  readonly #buckets: Collection<UsageBucket>;
  readonly #events: WriteBehind<UsageEvent>;
  readonly #readUncounted: ReadUncounted;

  constructor(connection: Connection, logger: Logger, readUncounted: ReadUncounted) {
    this.#readUncounted = readUncounted;
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
    const buckets = await this.#withUncounted(accountIds, () =>
      this.#buckets.find(
        { accountId: { $in: [...accountIds] }, day: { $gte: firstDay } },
        { projection: { codes: 0, refusedCodes: 0, phases: 0, ms: 0, errors: 0 } },
      ),
    );
    for (const { accountId, day, hours = {}, ...bucket } of buckets) {
      if (day < firstDay) continue;
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
   * The renders that have ended in each of some hours, by error code: without rejected requests, which have none, and
   * without cancelled ones.
   *
   * @param hours their beginnings.
   */
  async endsOf(accountId: string, hours: readonly Date[]): Promise<RenderEnds[]> {
    const days = [...new Set(hours.map(dayOf))];
    const byHour = Object.fromEntries(hours.map((hour) => [`hours.${hour.getUTCHours()}`, 1 as const]));
    const buckets = await this.#withUncounted([accountId], () =>
      this.#buckets.find({ accountId, day: { $in: days } }, { projection: { day: 1, added: 1, ...byHour } }),
    );
    return hours.map((hour) => {
      const day = dayOf(hour);
      const own = buckets.filter((bucket) => bucket.day === day);
      return endsIn(own.map((bucket) => bucket.hours?.[hour.getUTCHours()]));
    });
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
    const buckets = await this.#withUncounted([accountId], () =>
      this.#buckets.find(
        { accountId, day: { $gte: dayOf(since) } },
        interval === 'day' ? { projection: { hours: 0 } } : {},
      ),
    );
    const own = apiKeyId === undefined ? buckets : buckets.filter((bucket) => bucket.apiKeyId === apiKeyId);
    return seriesOf(own, { since, now, interval });
  }

  /** Deletes buckets that are older than the longest period of a report. @returns the number of deleted buckets. */
  deleteOld(now: Date): Promise<number> {
    const before = dayOf(new Date(now.getTime() - LONGEST_PERIOD_MS));
    return this.#buckets.deleteMany({ day: { $lt: before } });
  }

  /**
   * Adds a batch of an account to its buckets. Repeated it changes nothing, also concurrently.
   *
   * @param number of the batch: greater than those of the account's batches before it.
   */
  async add(accountId: string, number: number, batch: UsageByHour): Promise<void> {
    const buckets = Map.groupBy(partsOf(accountId, batch), ({ _id }) => _id);
    for (const [id, parts] of buckets) {
      const $inc: Record<string, number> = {};
      for (const { hour, tally } of parts) {
        for (const [field, count] of leaves(tally)) raise($inc, hour, field, count);
      }
      const [{ day, apiKeyId }] = parts as [UsagePart];
      const isAdded = { $not: { $gte: number } };
      const update = { $inc, $set: { added: number }, $setOnInsert: { accountId, day, apiKeyId } };
      await this.#buckets.upsertMatching({ _id: id, added: isAdded }, update, { _id: 1 });
    }
  }

  /** The buckets that are read, and others with the outcomes that are not in them. */
  async #withUncounted(
    accountIds: readonly string[],
    read: () => Promise<UsageBucket[]>,
  ): Promise<UsageBucket[]> {
    let before = await this.#readUncounted(accountIds);
    for (let tries = 1; ; tries += 1) {
      const buckets = await read();
      const after = await this.#readUncounted(accountIds);
      if (tries === TRIES || accountIds.every((id) => isSame(before.get(id), after.get(id))))
        return [...buckets, ...uncountedBuckets(buckets, before)];
      before = after;
    }
  }

  async #tallies(accountId: string, since: Date): Promise<Tally[]> {
    const firstDay = dayOf(since);
    const buckets = await this.#withUncounted([accountId], async () => {
      const [first, whole] = await Promise.all([
        this.#buckets.find({ accountId, day: firstDay }),
        this.#buckets.find({ accountId, day: { $gt: firstDay } }, { projection: { hours: 0 } }),
      ]);
      return [...first, ...whole];
    });
    return buckets.flatMap((bucket): Tally[] => {
      if (bucket.day > firstDay) return [bucket];
      if (bucket.day < firstDay) return [];
      return Object.entries(bucket.hours ?? {})
        .filter(([hour]) => Number(hour) >= since.getUTCHours())
        .map(([, tally]) => ({ ...tally, apiKeyId: bucket.apiKeyId }));
    });
  }

  async #count(batch: readonly UsageEvent[]): Promise<void> {
    const groups = Map.groupBy(batch, bucketOf);
    await this.#buckets.upsertAll([...groups].map(([id, events]) => ({ id, update: increments(events) })));
  }
}

function bucketOf({ accountId, at, apiKeyId }: UsageEvent): string {
  return bucketId(accountId, dayOf(at), apiKeyId);
}

function bucketId(accountId: string, day: string, apiKeyId: string): string {
  return `${accountId}:${day}:${apiKeyId}`;
}

/** The name in `UsageByHour` of an hour (UTC) of a key. */
function hourAndKey(at: Date, apiKeyId: string): string {
  return `${Math.floor(at.getTime() / HOUR_MS)}:${apiKeyId}`;
}

/** How outcomes of an account's jobs raise its `UsageByHour` in the field `field`. */
export function usageOf(field: string, outcomes: readonly UsageEvent[]): Record<string, number> {
  const $inc: Record<string, number> = {};
  for (const outcome of outcomes) {
    const of = `${field}.${hourAndKey(outcome.at, outcome.apiKeyId)}`;
    for (const [count, by] of countsOf(outcome, true))
      $inc[`${of}.${count}`] = ($inc[`${of}.${count}`] ?? 0) + by;
  }
  return $inc;
}

/** The counts of one hour, and the bucket that they are for. */
interface UsagePart {
  readonly _id: string;
  readonly accountId: string;
  readonly day: string;
  readonly apiKeyId: string;
  readonly hour: number;
  readonly tally: Omit<Tally, 'apiKeyId'>;
}

function partsOf(accountId: string, usage: UsageByHour = {}): UsagePart[] {
  return Object.entries(usage).map(([name, tally]) => {
    const [hours, ...key] = name.split(':');
    const at = new Date(Number(hours) * HOUR_MS);
    const apiKeyId = key.join(':');
    const day = dayOf(at);
    return {
      _id: bucketId(accountId, day, apiKeyId),
      accountId,
      day,
      apiKeyId,
      hour: at.getUTCHours(),
      tally,
    };
  });
}

function uncountedBuckets(
  buckets: readonly UsageBucket[],
  uncounted: ReadonlyMap<string, UncountedUsage>,
): UsageBucket[] {
  const added = new Map(buckets.map(({ _id, added: number = 0 }) => [_id, number]));
  return [...uncounted].flatMap(([accountId, { batches = 0, batch, usage }]) => {
    const left = partsOf(accountId, batch).filter(({ _id }) => (added.get(_id) ?? 0) < batches);
    return [...left, ...partsOf(accountId, usage)].map(({ hour, tally, ...bucket }) => ({
      ...bucket,
      ...tally,
      hours: { [hour]: tally },
    }));
  });
}

/** Whether no batch was taken or added completely between two reads. */
function isSame(a: UncountedUsage | undefined, b: UncountedUsage | undefined): boolean {
  return a?.batches === b?.batches && (a?.batch === undefined) === (b?.batch === undefined);
}

/** The numbers of a tally by their paths: `errors.timeout`. */
function leaves(tally: object): [path: string, count: number][] {
  return Object.entries(tally).flatMap(([field, value]): [string, number][] =>
    typeof value === 'number'
      ? [[field, value]]
      : leaves(value).map(([path, count]) => [`${field}.${path}`, count]),
  );
}

function raise($inc: Record<string, number>, hour: number, field: string, count: number): void {
  for (const path of [field, `hours.${hour}.${field}`]) $inc[path] = ($inc[path] ?? 0) + count;
}

/** @param events events of one bucket. */
function increments(events: readonly UsageEvent[]) {
  const $inc: Record<string, number> = {};
  for (const event of events) {
    for (const [field, count] of countsOf(event, false)) raise($inc, event.at.getUTCHours(), field, count);
  }
  const [{ accountId, apiKeyId, at }] = events as [UsageEvent];
  return { $inc, $setOnInsert: { accountId, day: dayOf(at), apiKeyId } };
}

/** The fields to increment for an event, and by how much. A failure without a job is a request that was refused. */
function countsOf(event: UsageEvent, ofJob: boolean): [field: string, count: number][] {
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
      ...(ofJob ? [] : refused),
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
