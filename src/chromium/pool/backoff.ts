/** Milliseconds to wait before try number `failures` + 1: doubling from `firstMs` to `maxMs`, spread by up to a half. */
export function backoffMs(failures: number, firstMs: number, maxMs: number, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1));
  return full * (0.5 + random() / 2);
}
