/**
 * About how many milliseconds that share of the renders took at most: within a bin they are taken to be spread evenly.
 *
 * @param bounds upper ends of the bins, in milliseconds; one bin more is for what took longer, whose beginning is returned.
 * @returns undefined without any render.
 */
export function percentile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): { readonly ms: number; readonly isLonger: boolean } | undefined {
  const wanted = counts.reduce((sum, count) => sum + count, 0) * share;
  if (wanted === 0) return undefined;
  let seen = 0;
  for (const [i, bound] of bounds.entries()) {
    const count = counts[i] ?? 0;
    const from = bounds[i - 1] ?? 0;
    if (count > 0 && seen + count >= wanted)
      return { ms: from + ((bound - from) * (wanted - seen)) / count, isLonger: false };
    seen += count;
  }
  return { ms: bounds.at(-1) ?? 0, isLonger: true };
}
