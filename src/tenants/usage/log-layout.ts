import { v7 } from 'uuid';

/*
 * How the request log is stored:
 *
 *   request_log       <account>:<UUID of version 7>   an entry
 *   request_log_days  <account>:2026-03-01:<key>      hours: { 9: { '/v1/pdf': { total: 120, failed: 2 } } }
 *
 * The UUID begins with the time, so the entries of an account are in the order of their times. The counts say how many
 * entries there are, and in which hours those of a page lie.
 */

const HOUR_MS = 3_600_000;
const UUID_LENGTH = 36;

/** The numbers of requests by endpoint. */
type Counts = Readonly<Record<string, { readonly total: number; readonly failed?: number }>>;

/** The numbers of requests with one key on one day (UTC). */
export interface LogDay {
  readonly _id: string;
  readonly day: string;
  /** `0` to `23`; only hours that have entries. */
  readonly hours: Readonly<Record<string, Counts>>;
}

/** The entries of one hour (UTC) with one key. */
export interface Hour {
  /** Its beginning, in milliseconds since 1970. */
  readonly atMs: number;
  readonly counts: Counts;
}

/** Which entries are wanted. */
export interface Kind {
  readonly status?: 'success' | 'error' | undefined;
  readonly endpoint?: string | undefined;
}

/** Hours that are searched with one query. */
interface Run {
  /** Where the first of them begins and the last one ends, in milliseconds since 1970. */
  fromMs: number;
  toMs: number;
  /** How many entries they have, whether these are wanted or not. */
  entries: number;
}

export function newEntryId(accountId: string, at: Date): string {
  return `${accountId}:${v7({ msecs: at.getTime() })}`;
}

export function accountOf(entryId: string): string {
  return entryId.slice(0, -UUID_LENGTH - 1);
}

export function uuidOf(entryId: string): string {
  return entryId.slice(-UUID_LENGTH);
}

/** The ids of an account's entries from one moment up to, but not including, another; in milliseconds since 1970. */
export function idsBetween(accountId: string, fromMs: number, toMs: number) {
  return { $gte: lowestId(accountId, fromMs), $lt: lowestId(accountId, toMs) };
}

function lowestId(accountId: string, ms: number): string {
  return `${accountId}:${ms.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-')}`;
}

/** The hours of these days from a whole hour on, in no particular order. */
export function hoursOf(days: readonly LogDay[], since: Date): Hour[] {
  return days
    .flatMap(({ day, hours }) =>
      Object.entries(hours).map(([hour, counts]) => ({
        atMs: Date.parse(day) + Number(hour) * HOUR_MS,
        counts,
      })),
    )
    .filter(({ atMs }) => atMs >= since.getTime());
}

export function countOf(hours: readonly Hour[], { status, endpoint }: Kind): number {
  let sum = 0;
  for (const { counts } of hours) {
    for (const [at, { total, failed = 0 }] of Object.entries(counts)) {
      if (endpoint !== undefined && at !== endpoint) continue;
      sum += status === undefined ? total : status === 'error' ? failed : total - failed;
    }
  }
  return sum;
}

/**
 * Where the entries of a page lie. The counts show how many entries the hours before it have, and which hours have none
 * that are wanted.
 *
 * @param atOnce a run gets no further hour beyond this number of entries.
 * @returns the runs in the order of the page, and how many wanted entries of the first run are before the page.
 */
export function runsOf(
  hours: readonly Hour[],
  {
    offset,
    newestFirst,
    atOnce,
    ...kind
  }: Kind & { readonly offset: number; readonly newestFirst: boolean; readonly atOnce: number },
): { readonly skip: number; readonly runs: readonly Readonly<Run>[] } {
  const byTime = [...Map.groupBy(hours, ({ atMs }) => atMs)].sort(([a], [b]) =>
    newestFirst ? b - a : a - b,
  );
  const runs: Run[] = [];
  let skip = offset;
  let entries = 0;
  for (const [fromMs, same] of byTime) {
    const wanted = countOf(same, kind);
    const toMs = fromMs + HOUR_MS;
    const run = runs.at(-1);
    if (run === undefined && wanted <= skip) {
      skip -= wanted;
      continue;
    }
    // Hours without wanted entries between two others are searched with them.
    entries += countOf(same, {});
    if (wanted === 0) continue;
    if (run !== undefined && run.entries + entries <= atOnce) {
      run.fromMs = Math.min(run.fromMs, fromMs);
      run.toMs = Math.max(run.toMs, toMs);
      run.entries += entries;
    } else {
      runs.push({ fromMs, toMs, entries: countOf(same, {}) });
    }
    entries = 0;
  }
  return { skip, runs };
}
