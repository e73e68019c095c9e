/** Says how a promise was kept: the median of what was measured in parts of what was promised, and the least and the greatest. */
export function reported(what: string, ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const [least, median, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!];
  const verdict = median <= 1 ? '' : ': missed';
  return `${what}: ${median.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)}, ${sorted.length} times)${verdict}`;
}
