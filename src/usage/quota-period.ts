/** A period that has a quota of its own: a calendar month (UTC), as `yyyy-mm`; of test keys a day, as `test-yyyy-mm-dd`. */
export type Period = string & { readonly __brand: 'Period' };

/** The month that a moment falls into. */
export function quotaPeriod(now: Date): Period {
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

/** The first moment of the next month: when the quota starts anew. */
export function quotaResetDate(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
