/** How far back usage and logs go. */
export const PERIODS = ['1d', '7d', '30d', '90d'] as const;

/** The same as a choice. */
export const PERIOD_OPTIONS: readonly (readonly [(typeof PERIODS)[number], string])[] = [
  ['1d', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
];
