/** A period that has a quota of its own: a calendar month (UTC), as `yyyy-mm`. */
export type Period = string & { readonly __brand: 'Period' };

/** The month that a moment falls into. */
export function quotaPeriod(now: Date): Period {
  return now.toISOString().slice(0, 7) as Period;
}

/** The first moment of the next month: when the quota starts anew. */
export function quotaResetDate(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
