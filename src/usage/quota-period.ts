/**
 * A period that has a quota of its own: a calendar month (UTC), as `yyyy-mm`, or one that is paid for, by its start; of
 * test keys a day, as `test-yyyy-mm-dd`.
 */
export type Period = string & { readonly __brand: 'Period' };

/** A period that is paid for, and until when its quota holds. */
export interface QuotaWindow {
  readonly start: Date;
  readonly end: Date;
}

/** The period whose quota is used: the one that is paid for, otherwise the month that the moment falls into. */
export function quotaPeriod(now: Date, window?: QuotaWindow | null): Period {
  if (window) return `s${Math.floor(window.start.getTime() / 1000)}` as Period;
  return now.toISOString().slice(0, 7) as Period;
}

const TEST = 'test-';

/** The day that a moment falls into, for renders of test keys. */
export function testPeriod(now: Date): Period {
  return `${TEST}${now.toISOString().slice(0, 10)}` as Period;
}

/** Whether a period is a day of test renders that is over. */
export function isPastTestPeriod(period: string, now: Date): boolean {
  return period.startsWith(TEST) && period < testPeriod(now);
}

/** When the quota starts anew: the end of what is paid for, otherwise the first moment of the next month. */
export function quotaResetDate(now: Date, window?: QuotaWindow | null): Date {
  return window ? window.end : new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
