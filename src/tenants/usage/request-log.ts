import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import {
  dayId,
  daysBetween,
  type Hour,
  type LogDay,
  type LogSegment,
  SEGMENT_ENTRIES,
  segmentId,
  seriesOf,
  spansOf,
} from './log-layout.ts';
import { dayOf, LONGEST_PERIOD_MS } from './periods.ts';

export interface RequestLogEntry {
  readonly _id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  /** Path pattern of the route. */
  readonly endpoint: string;
  readonly ipAddress: string;
  readonly status: 'success' | 'error';
  /** The error's code. */
  readonly errorReason: string | null;
  /** Of HTTP; absent, as the next two, of an entry of an earlier version. */
  readonly method?: string;
  readonly statusCode?: number;
  /** From the request to its response, in milliseconds. */
  readonly durationMs?: number;
  /** The job or batch of the request; absent without one. */
  readonly jobId?: string;
  readonly createdAt: Date;
}

export interface RequestLogQuery {
  readonly accountId: string;
  /** A whole hour. */
  readonly since: Date;
  readonly now: Date;
  /** Only requests with this key. */
  readonly apiKeyId?: string | undefined;
  readonly status?: RequestLogEntry['status'] | undefined;
  readonly endpoint?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

interface RequestLogPage {
  /** The number of matching entries. */
  readonly total: number;
  readonly successCount: number;
  readonly failedCount: number;
  /** The endpoints that were requested, in alphabetical order. */
  readonly endpoints: string[];
  readonly entries: RequestLogEntry[];
}

type Kind = Pick<RequestLogQuery, 'status' | 'endpoint'>;

/** The most segments searched for one page of filtered entries; if more were needed, the page ends early. */
const MAX_SEGMENTS = 200;
const BLOCKS_AT_ONCE = 20;

const DAYS: CollectionSpec = {
  name: 'request_log_days',
  account: 'prefix',
  indexes: [{ fields: { day: 1 } }],
};
const SEGMENTS: CollectionSpec = {
  name: 'request_log_segments',
  account: 'prefix',
  indexes: [{ fields: { day: 1 } }],
};

/**
 * The requests of an account, one entry each. Entries are written in the background and never changed. They are stored
 * in segments with exact ids, and counted by the hour as they are written; docs/decisions/0022 says why.
 */
export class RequestLog {
  readonly #days: Collection<LogDay>;
  readonly #segments: Collection<LogSegment<RequestLogEntry>>;
  readonly #entries: WriteBehind<RequestLogEntry>;
  /** Positions of entries whose write failed after they had been counted. */
  readonly #positions = new WeakMap<RequestLogEntry, Map<string, number>>();

  constructor(connection: Connection, logger: Logger) {
    this.#days = new Collection(connection, DAYS);
    this.#segments = new Collection(connection, SEGMENTS);
    this.#entries = new WriteBehind((batch) => this.#write(batch), logger);
  }

  /** Written within a second; never fails. */
  record(entry: Omit<RequestLogEntry, '_id'>): void {
    this.#entries.add({ _id: randomUUID(), ...entry });
  }

  flush(): Promise<void> {
    return this.#entries.flush();
  }

  /** One page of entries, and the totals of all matching entries. */
  async page(query: RequestLogQuery): Promise<RequestLogPage> {
    const series = seriesOf(query.accountId, query.apiKeyId);
    const hours = await this.#hours(series, query.since, query.now);
    const ordered = query.newestFirst ? hours : hours.toReversed();
    if (query.status !== undefined || query.endpoint !== undefined) {
      const entries = await this.#filtered(series, ordered, query);
      return { ...totalsOf(hours), total: countOf(hours, query), entries };
    }
    const spans = spansOf(ordered, query);
    const ids = new Set(
      spans.flatMap(({ hour, segments }) => segments.map((segment) => segmentId(series, hour, segment))),
    );
    const found = await this.#segments.find({ _id: { $in: [...ids] } });
    const segments = new Map(found.map((segment) => [segment._id, inOrder(segment.entries)]));
    const entries = spans.flatMap(({ hour, from, to }) => {
      return Array.from({ length: to - from }, (_, i) => {
        const position = from + i;
        return segments.get(segmentId(series, hour, Math.floor(position / SEGMENT_ENTRIES)))?.[
          position % SEGMENT_ENTRIES
        ];
      }).filter((entry) => entry !== undefined);
    });
    const sorted = inOrder(entries);
    return {
      ...totalsOf(hours),
      total: countOf(hours, query),
      entries: query.newestFirst ? sorted.reverse() : sorted,
    };
  }

  /** Hours before the page are skipped by their counts; the others are searched, up to MAX_SEGMENTS segments. */
  async #filtered(
    series: string,
    hours: readonly Hour[],
    query: RequestLogQuery,
  ): Promise<RequestLogEntry[]> {
    const found: RequestLogEntry[] = [];
    let skip = query.offset;
    let read = 0;
    for (const hour of hours) {
      const count = countOf([hour], query);
      if (count <= skip) {
        skip -= count;
        continue;
      }
      const ids = Array.from({ length: Math.ceil(hour.total / SEGMENT_ENTRIES) }, (_, segment) =>
        segmentId(series, hour.at, segment),
      );
      if (query.newestFirst) ids.reverse();
      for (let from = 0; from < ids.length && found.length < query.limit; from += BLOCKS_AT_ONCE) {
        if (read >= MAX_SEGMENTS) return found;
        const some = ids.slice(from, from + BLOCKS_AT_ONCE);
        read += some.length;
        const segments = await this.#segments.find({ _id: { $in: some } });
        const entries = inOrder(segments.flatMap((segment) => segment.entries)).filter((entry) =>
          isOfKind(entry, query),
        );
        if (query.newestFirst) entries.reverse();
        found.push(...entries.slice(skip, skip + query.limit - found.length));
        skip = Math.max(0, skip - entries.length);
      }
      if (found.length === query.limit) break;
    }
    return found;
  }

  /** Deletes entries that are older than the longest period of a report. @returns the number of deleted segments. */
  async deleteOld(now: Date): Promise<number> {
    const old = { day: { $lt: dayOf(new Date(now.getTime() - LONGEST_PERIOD_MS)) } };
    await this.#days.deleteMany(old);
    return this.#segments.deleteMany(old);
  }

  /** The hours of a series with entries, the latest first. */
  async #hours(series: string, since: Date, now: Date): Promise<Hour[]> {
    const ids = daysBetween(since, now).map((day) => dayId(series, day));
    const days = await this.#days.find({ _id: { $in: ids } });
    return days
      .flatMap(({ day, hours }) =>
        Object.entries(hours).map(([hour, counts]) => ({ ...counts, at: `${day}T${hour.padStart(2, '0')}` })),
      )
      .filter(({ at }) => at >= since.toISOString().slice(0, 13))
      .sort((a, b) => (a.at < b.at ? 1 : -1));
  }

  async #write(batch: readonly RequestLogEntry[]): Promise<void> {
    const groups = new Map<string, { series: string; at: string; entries: RequestLogEntry[] }>();
    for (const entry of batch) {
      for (const series of [seriesOf(entry.accountId), seriesOf(entry.accountId, entry.apiKeyId)]) {
        const at = entry.createdAt.toISOString().slice(0, 13);
        const group = groups.get(`${series} ${at}`) ?? { series, at, entries: [] };
        group.entries.push(entry);
        groups.set(`${series} ${at}`, group);
      }
    }
    await Promise.all(
      [...groups.values()].map(({ series, at, entries }) => this.#append(series, at, entries)),
    );
  }

  /** Appends entries of one hour to a series. */
  async #append(series: string, at: string, entries: readonly RequestLogEntry[]): Promise<void> {
    const positions = await this.#takePositions(series, at, entries);
    const segments = Map.groupBy(entries, (entry) => Math.floor(positions.get(entry)! / SEGMENT_ENTRIES));
    await this.#segments.upsertAll(
      [...segments].map(([segment, own]) => ({
        id: segmentId(series, at, segment),
        update: { $push: { entries: { $each: own } }, $setOnInsert: { day: at.slice(0, 10) } },
      })),
    );
  }

  /** Adds entries to the count of their hour, which gives their positions, unless they have them already. */
  async #takePositions(
    series: string,
    at: string,
    entries: readonly RequestLogEntry[],
  ): Promise<Map<RequestLogEntry, number>> {
    const fresh = entries.filter((entry) => this.#positions.get(entry)?.get(series) === undefined);
    if (fresh.length > 0) {
      const hour = String(Number(at.slice(11)));
      const increments: Record<string, number> = {};
      for (const { status, endpoint } of fresh) {
        const failedAt = status === 'error' ? [`failedAt.${endpoint}`] : [];
        for (const field of ['total', status, `endpoints.${endpoint}`, ...failedAt]) {
          const path = `hours.${hour}.${field}`;
          increments[path] = (increments[path] ?? 0) + 1;
        }
      }
      const day = at.slice(0, 10);
      const change = { $inc: increments, $setOnInsert: { day } };
      const counted = await this.#days.upsert(dayId(series, day), change);
      const first = counted.hours[hour]!.total - fresh.length;
      fresh.forEach((entry, i) => {
        const own = this.#positions.get(entry) ?? new Map<string, number>();
        this.#positions.set(entry, own.set(series, first + i));
      });
    }
    return new Map(entries.map((entry) => [entry, this.#positions.get(entry)!.get(series)!]));
  }
}

/** The number of entries in these hours that match the filter. */
function countOf(hours: readonly Hour[], { status, endpoint }: Kind): number {
  return hours.reduce((sum, hour) => {
    if (endpoint === undefined) return sum + (hour[status ?? 'total'] ?? 0);
    const all = hour.endpoints[endpoint] ?? 0;
    const failed = hour.failedAt?.[endpoint] ?? 0;
    return sum + (status === undefined ? all : status === 'error' ? failed : all - failed);
  }, 0);
}

function isOfKind(entry: RequestLogEntry, { status, endpoint }: Kind): boolean {
  return (
    (status === undefined || entry.status === status) &&
    (endpoint === undefined || entry.endpoint === endpoint)
  );
}

/** Oldest first. An entry that was written twice, because a write succeeded without a response, is returned once. */
function inOrder(entries: readonly RequestLogEntry[]): RequestLogEntry[] {
  const unique = new Map(entries.map((entry) => [entry._id, entry]));
  return [...unique.values()].sort(
    (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1),
  );
}

function totalsOf(hours: readonly Hour[]): Omit<RequestLogPage, 'entries' | 'total'> {
  return {
    successCount: hours.reduce((sum, { success = 0 }) => sum + success, 0),
    failedCount: hours.reduce((sum, { error = 0 }) => sum + error, 0),
    endpoints: [...new Set(hours.flatMap(({ endpoints }) => Object.keys(endpoints)))].sort(),
  };
}
