/** A Prometheus histogram: how many observations were not above each bound, lowest bound first; the last is infinite. */
export type Histogram = readonly { readonly bound: number; readonly count: number }[];

/** Reads one histogram out of the Prometheus text format; empty when nothing was observed yet. */
export function readHistogram(text: string, name: string, labels: Record<string, string> = {}): Histogram {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}_bucket{`) && wanted.every((label) => line.includes(label)))
    .map((line) => {
      const [, bound = ''] = /le="([^"]+)"/.exec(line) ?? [];
      const count = Number(line.slice(line.lastIndexOf(' ') + 1));
      return { bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count };
    });
}

/** What was observed between two readings. */
export function since(before: Histogram, after: Histogram): Histogram {
  return after.map(({ bound, count }, i) => ({ bound, count: count - (before[i]?.count ?? 0) }));
}

/** The sum of several processes' histograms; a process without observations has no buckets. */
export function together(histograms: readonly Histogram[]): Histogram {
  const [longest = []] = [...histograms].sort((a, b) => b.length - a.length);
  return longest.map(({ bound }, i) => ({
    bound,
    count: histograms.reduce((sum, histogram) => sum + (histogram[i]?.count ?? 0), 0),
  }));
}

export function observations(histogram: Histogram): number {
  return histogram.at(-1)?.count ?? 0;
}

/** As Prometheus's `histogram_quantile`: evenly spread within each bucket. NaN when there is nothing. */
export function quantile(histogram: Histogram, share: number): number {
  const rank = observations(histogram) * share;
  const index = histogram.findIndex(({ count }) => count > 0 && count >= rank);
  const bucket = histogram[index];
  if (bucket === undefined) return Number.NaN;
  const below = histogram[index - 1] ?? { bound: 0, count: 0 };
  if (bucket.bound === Number.POSITIVE_INFINITY) return below.bound;
  return below.bound + (bucket.bound - below.bound) * ((rank - below.count) / (bucket.count - below.count));
}
