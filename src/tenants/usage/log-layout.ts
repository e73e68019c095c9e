import { dayOf } from './periods.ts';

/*
 * How the request log is stored. An entry belongs to two series, its account's and its key's. A series has a record for
 * each day with the number of entries in each hour, and stores its entries in segments:
 *
 *   request_log_days    <series>:2026-03-01            hours: { 9: { total: 120, success: 118, error: 2, … } }
 *   request_log_segments  <series>:2026-03-01T09:0       the first 50 entries of the hour
 *                       <series>:2026-03-01T09:1       the next 50
 *                       <series>:2026-03-01T09:2       the last 20
 */

/** Entries of one segment: a page needs two or three segments, and each new entry rewrites one. */
export const SEGMENT_ENTRIES = 50;

const DAY_MS = 86_400_000;

interface HourCounts {
  readonly total: number;
  readonly success?: number;
  readonly error?: number;
  readonly endpoints: Readonly<Record<string, number>>;
  /** Failed requests by endpoint; absent without any. */
  readonly failedAt?: Readonly<Record<string, number>>;
}

export interface LogDay {
  readonly _id: string;
  readonly day: string;
  /** `0` to `23`; only hours that have entries. */
  readonly hours: Readonly<Record<string, HourCounts>>;
}

export interface LogSegment<Entry> {
  readonly _id: string;
  readonly day: string;
  readonly entries: readonly Entry[];
}

/** An hour (UTC) of a series, as `yyyy-mm-ddThh`. */
export interface Hour extends HourCounts {
  readonly at: string;
}

/** Entries of one hour, by their positions in the hour: from `from` up to, but not including, `to`. */
interface Span {
  readonly hour: string;
  readonly from: number;
  readonly to: number;
  readonly segments: readonly number[];
}

export function seriesOf(accountId: string, apiKeyId?: string): string {
  return apiKeyId === undefined ? accountId : `${accountId}:${apiKeyId}`;
}

export function dayId(series: string, day: string): string {
  return `${series}:${day}`;
}

export function segmentId(series: string, hour: string, segment: number): string {
  return `${series}:${hour}:${segment}`;
}

/** The days (UTC) from one moment to another, including both. */
export function daysBetween(since: Date, now: Date): string[] {
  const days: string[] = [];
  for (let at = Date.parse(dayOf(since)); at <= now.getTime(); at += DAY_MS) days.push(dayOf(new Date(at)));
  return days;
}

/** The positions of a page's entries, by hours in the order of the page. */
export function spansOf(
  hours: readonly Hour[],
  page: { readonly limit: number; readonly offset: number; readonly newestFirst: boolean },
): Span[] {
  const spans: Span[] = [];
  let skip = page.offset;
  let wanted = page.limit;
  for (const { at, total } of hours) {
    if (wanted === 0) break;
    const taken = Math.min(wanted, Math.max(0, total - skip));
    if (taken > 0) {
      const from = page.newestFirst ? total - skip - taken : skip;
      const to = from + taken;
      const first = Math.floor(from / SEGMENT_ENTRIES);
      const last = Math.floor((to - 1) / SEGMENT_ENTRIES);
      const segments = Array.from({ length: last - first + 1 }, (_, i) => first + i);
      spans.push({ hour: at, from, to, segments });
    }
    wanted -= taken;
    skip = Math.max(0, skip - total);
  }
  return spans;
}
