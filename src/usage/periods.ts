/** How far back a report looks. */
export const PERIODS = ['1d', '7d', '30d', '90d'] as const;
export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;

export function daysOf(period: Period): number {
  return Number.parseInt(period, 10);
}

/** The moment a period began. */
export function periodStart(period: Period, now: Date): Date {
  return new Date(now.getTime() - daysOf(period) * DAY_MS);
}

/** The calendar day (UTC) of a moment, as `yyyy-mm-dd`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The calendar days (UTC) that a period covers, today among them, oldest first. */
export function periodDays(period: Period, now: Date): string[] {
  return Array.from({ length: daysOf(period) }, (_, i) => {
    return dayOf(new Date(now.getTime() - (daysOf(period) - 1 - i) * DAY_MS));
  });
}
