/** A period with its own quota: a month (UTC), `yyyy-mm`; a paid period, by its start; a day, `test-yyyy-mm-dd`. */
export type Period = string & { readonly __brand: 'Period' };

/** A paid period, and the end of its quota. */
export interface QuotaWindow {
  readonly start: Date;
  readonly end: Date;
}

/** The period whose quota is used: the paid one, otherwise the month of the moment. */
export function quotaPeriod(now: Date, window?: QuotaWindow | null): Period {
  if (window) return `s${Math.floor(window.start.getTime() / 1000)}` as Period;
  return now.toISOString().slice(0, 7) as Period;
}

const TEST = 'test-';

/** The day of a moment, for renders with test keys. */
export function testPeriod(now: Date): Period {
  return `${TEST}${now.toISOString().slice(0, 10)}` as Period;
}

/** Whether a period is a past day of test renders. */
export function isPastTestPeriod(period: string, now: Date): boolean {
  return period.startsWith(TEST) && period < testPeriod(now);
}

/** When the next quota begins: at the end of the paid period, otherwise at the beginning of the next month. */
export function quotaResetDate(now: Date, window?: QuotaWindow | null): Date {
  return window ? window.end : new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
