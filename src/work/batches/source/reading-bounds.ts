import type { DueBounds } from '../../../infra/store/due-work.ts';
import type { Reading, Readings } from '../readings.ts';

/**
 * Batches that one process reads at a time, those of one account among them, and those whose files are fetched: servers of
 * customers may be slow.
 */
const AT_ONCE = { all: 16, perAccount: 2, fetched: 8 };
export const READINGS_AT_ONCE = AT_ONCE.all;

/** Bounds of what one process reads at a time. */
export function readingBounds(readings: Pick<Readings, 'due'>): DueBounds<Reading> {
  let underWay = 0;
  let fetching = 0;
  const byAccount = new Map<string, number>();
  const full = () =>
    [...byAccount].filter(([, count]) => count >= AT_ONCE.perAccount).map(([accountId]) => accountId);
  return {
    free: () => AT_ONCE.all - underWay,
    due: (limit) =>
      readings.due(limit, {
        accountId: { $nin: full() },
        ...(fetching >= AT_ONCE.fetched && { fetches: { $exists: false } }),
      }),
    reserve({ accountId, fetches = false }) {
      const own = byAccount.get(accountId) ?? 0;
      const isFull = underWay >= AT_ONCE.all || own >= AT_ONCE.perAccount;
      if (isFull || (fetches && fetching >= AT_ONCE.fetched)) return undefined;
      underWay += 1;
      fetching += Number(fetches);
      byAccount.set(accountId, own + 1);
      return {
        release() {
          underWay -= 1;
          fetching -= Number(fetches);
          const left = byAccount.get(accountId)! - 1;
          if (left === 0) byAccount.delete(accountId);
          else byAccount.set(accountId, left);
        },
      };
    },
  };
}
