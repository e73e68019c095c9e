/**
 * Milliseconds to wait after the `failures`-th failure in a row (1 is the first): doubling from `firstMs` up to `maxMs`
 * (which may be infinite), spread over the upper half ("equal jitter"), so that what failed together does not come back together.
 *
 * @param random a number in [0, 1).
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number, random: () => number): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1));
  return ceiling / 2 + (ceiling / 2) * random();
}
