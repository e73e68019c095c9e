/** How far back usage and logs go. */
export const PERIODS = ['1d', '7d', '30d', '90d'] as const;
