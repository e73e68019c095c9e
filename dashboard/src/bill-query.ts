import { api, call } from './api.ts';
import { LIVE } from './live.ts';

export type Bill = Awaited<ReturnType<typeof BILL_QUERY.queryFn>>;

/** Asks for the usage and the cost of the current period. */
export const BILL_QUERY = { queryKey: [LIVE, 'bill'], queryFn: () => call(api.GET('/user/bill')) };

/** The share of the quota that is used, in whole percent; more than 100 with blocks. */
export function usedPercent({ used, quota }: Bill): number {
  return quota === 0 ? 100 : Math.floor((100 * used) / quota);
}
