/** The periods that a report can cover. */
export const PERIODS = ['1d', '7d', '30d', '90d'] as const;
export type ReportPeriod = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Older data is never reported, in milliseconds. */
export const LONGEST_PERIOD_MS = 90 * DAY_MS + HOUR_MS;

export function periodDays(period: ReportPeriod): number {
  return Number.parseInt(period, 10);
}

/** The beginning of a period, rounded down to a whole hour, because requests are counted by the hour. */
export function periodStart(period: ReportPeriod, now: Date): Date {
  const start = now.getTime() - periodDays(period) * DAY_MS;
  return new Date(start - (start % HOUR_MS));
}

/** The calendar day (UTC) of a moment, as `yyyy-mm-dd`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The days (UTC) from one moment to another, including both. */
export function daysBetween(since: Date, now: Date): string[] {
  const days: string[] = [];
  for (let at = Date.parse(dayOf(since)); at <= now.getTime(); at += DAY_MS) days.push(dayOf(new Date(at)));
  return days;
}
