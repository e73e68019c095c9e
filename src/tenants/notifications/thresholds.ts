/** The percentages of the quota, and of the cap of auto overage, that can be alerted of. */
export const QUOTA_PERCENTS = [50, 75, 80, 90, 95, 100] as const;
export type QuotaPercent = (typeof QUOTA_PERCENTS)[number];

/** From when on an account is alerted. */
export interface Thresholds {
  /** Of the quota, and of the cap of auto overage; ascending. */
  readonly quotaPercents: readonly QuotaPercent[];
  /** More than this share of the renders of an hour have failed … */
  readonly failurePercent: number;
  /** … of at least so many. */
  readonly failureRenders: number;
  /** So many attempts to deliver to one address have failed in a row, or all of an hour. */
  readonly webhookFailures: number;
}

export const DEFAULT_THRESHOLDS: Thresholds = {
  quotaPercents: [50, 80, 100],
  failurePercent: 20,
  failureRenders: 20,
  webhookFailures: 20,
};
