import { doublingMs } from '../../async/backoff.ts';

/** Somebody else writes the size of a pool. */
export interface Contest {
  readonly by: readonly string[];
  /** How often they have, with pauses shorter than QUIET_MS. */
  readonly count: number;
  /** Until then the size stays as they have left it. */
  readonly yieldUntilMs: number;
  /** When they did last. */
  readonly sinceMs: number;
  /** The own value was written after that: if it is not there any more, they have written again. */
  readonly reclaimed: boolean;
}

const FIRST_YIELD_MS = 30_000;
const LONGEST_YIELD_MS = 600_000;
/** Nobody has written for so long: it is over. */
const QUIET_MS = 900_000;

/**
 * Two writers who each put their own value back would raise and lower a pool for ever (temporal-worker-controller#529). So
 * whoever is met yields to the other, each time for longer, and says so.
 *
 * @param writers who has written the size last, when it is not as it was left; empty otherwise.
 */
export function nextContest(
  contest: Contest | undefined,
  writers: readonly string[],
  nowMs: number,
): Contest | undefined {
  const current = contest !== undefined && nowMs - contest.sinceMs < QUIET_MS ? contest : undefined;
  if (writers.length === 0) return current;
  if (current !== undefined && !current.reclaimed) {
    return { ...current, by: writers, reclaimed: nowMs >= current.yieldUntilMs };
  }
  const count = (current?.count ?? 0) + 1;
  const yieldMs = doublingMs(count, FIRST_YIELD_MS, LONGEST_YIELD_MS);
  return { by: writers, count, sinceMs: nowMs, yieldUntilMs: nowMs + yieldMs, reclaimed: false };
}
