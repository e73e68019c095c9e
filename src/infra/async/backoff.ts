/** The spread, as a part of a planned wait, for retries after a common failure. */
const SPREAD = 0.2;

/** Milliseconds after the `failures`-th failure in a row (1 is the first): doubling from `firstMs` up to `maxMs`. */
export function doublingMs(failures: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1));
}

/**
 * Milliseconds to wait after the `failures`-th failure in a row (1 is the first): doubling from `firstMs` up to `maxMs`
 * (which may be infinite), spread over the upper half ("equal jitter"), so that retries after a common failure do not
 * coincide.
 *
 * @param random a number in [0, 1).
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number, random: () => number): number {
  const ceiling = doublingMs(failures, firstMs, maxMs);
  return ceiling / 2 + (ceiling / 2) * random();
}

/**
 * A promised or requested wait, in milliseconds: never shorter than `plannedMs`, and up to a fifth longer, so that
 * retries after a common failure do not coincide.
 *
 * @param random a number in [0, 1).
 */
export function spreadMs(plannedMs: number, random: () => number): number {
  return plannedMs * (1 + SPREAD * random());
}
