import { doublingMs } from '../../infra/async/backoff.ts';

/** Another client writes the size of a pool. */
export interface Contest {
  readonly by: readonly string[];
  /** How often it has, with pauses shorter than QUIET_MS. */
  readonly count: number;
  /** Until then the size stays as the other client has set it. */
  readonly yieldUntilMs: number;
  /** When it wrote last. */
  readonly sinceMs: number;
  /** The controller has written its own value after that: if it is gone, the other client has written again. */
  readonly reclaimed: boolean;
}

const FIRST_YIELD_MS = 30_000;
const LONGEST_YIELD_MS = 600_000;
/** A contest is over when the other client has written nothing for this long, in milliseconds. */
const QUIET_MS = 900_000;

/**
 * Two writers that each restore their own value would raise and lower a pool for ever (temporal-worker-controller#529).
 * So the controller yields to the other writer, each time for longer, and reports it.
 *
 * @param writers the managers that wrote the size last, when it is not as the controller left it; empty otherwise.
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
