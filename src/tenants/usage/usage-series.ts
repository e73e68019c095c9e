import type { ErrorCode } from '../../infra/errors/registry.ts';
import { RENDER_PHASES, type RenderPhase } from '../../render/report/phases.ts';
import { dayOf } from './periods.ts';
import { addCounts, type Tally } from './tallies.ts';

export const INTERVALS = ['hour', 'day'] as const;

export interface SeriesQuery {
  readonly interval: (typeof INTERVALS)[number];
  /** Only requests with this key. */
  readonly apiKeyId?: string | undefined;
}

/** The counts of an hour or a day. */
export interface SeriesPoint {
  /** The beginning of the hour or day. */
  readonly at: Date;
  readonly total: number;
  readonly success: number;
  readonly failed: number;
  /** Of these, requests that were refused. */
  readonly refused: number;
  readonly refusedByCode: Partial<Record<ErrorCode, number>>;
  readonly errorsByCategory: Record<string, number>;
  readonly errorsByCode: Partial<Record<ErrorCode, number>>;
  readonly pages: number;
  readonly bytes: number;
  /** The number of renders in each bin of durations: see `binOf`. */
  readonly durations: number[];
  /** Milliseconds that the renders spent in each phase, in total. */
  readonly phasesMs: Record<RenderPhase, number>;
}

/** A day (UTC) of a series, with its hours if they are needed. */
interface CountedDay extends Tally {
  readonly day: string;
  readonly hours?: Readonly<Record<string, Omit<Tally, 'apiKeyId'>>>;
}

/** The upper bounds of the bins of durations, in milliseconds; one more bin is for longer durations. */
export const DURATION_BOUNDS_MS = [
  50, 100, 200, 400, 800, 1500, 3000, 6000, 12_000, 30_000, 60_000, 120_000, 300_000,
] as const;
const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** The number of a duration's bin, from 0. */
export function binOf(ms: number): number {
  const bin = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return bin === -1 ? DURATION_BOUNDS_MS.length : bin;
}

/** @param since the beginning of the first hour or day. */
export function seriesOf(
  days: readonly CountedDay[],
  { since, now, interval }: Pick<SeriesQuery, 'interval'> & { readonly since: Date; readonly now: Date },
): SeriesPoint[] {
  const byDay = Map.groupBy(days, ({ day }) => day);
  const points: SeriesPoint[] = [];
  for (let at = since.getTime(); at <= now.getTime(); at += STEP_MS[interval]) {
    const moment = new Date(at);
    const counted = byDay.get(dayOf(moment)) ?? [];
    const tallies = interval === 'day' ? counted : counted.map(({ hours }) => hours?.[moment.getUTCHours()]);
    points.push(pointOf(moment, tallies));
  }
  return points;
}

function pointOf(at: Date, tallies: readonly (Omit<Tally, 'apiKeyId'> | undefined)[]): SeriesPoint {
  const errorsByCategory: Record<string, number> = {};
  const errorsByCode: Record<string, number> = {};
  const refusedByCode: Record<string, number> = {};
  const durations = Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, () => 0);
  const phasesMs = Object.fromEntries(RENDER_PHASES.map((phase) => [phase, 0])) as Record<
    RenderPhase,
    number
  >;
  const sums = { total: 0, failed: 0, refused: 0, pages: 0, bytes: 0 };
  for (const tally of tallies) {
    if (tally === undefined) continue;
    for (const field of ['total', 'failed', 'refused', 'pages', 'bytes'] as const)
      sums[field] += tally[field] ?? 0;
    addCounts(errorsByCategory, tally.errors);
    addCounts(errorsByCode, tally.codes);
    addCounts(refusedByCode, tally.refusedCodes);
    addCounts(phasesMs, tally.phases);
    for (const [bin, count] of Object.entries(tally.ms ?? {})) durations[Number(bin)]! += count;
  }
  const success = sums.total - sums.failed;
  return { at, ...sums, success, errorsByCategory, errorsByCode, refusedByCode, durations, phasesMs };
}
