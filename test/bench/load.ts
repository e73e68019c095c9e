import { performance } from 'node:perf_hooks';

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly count: number;
}

/** A closed loop: so many callers, each asking again as soon as it has its answer, for a while. */
export async function runLoad(
  callers: number,
  durationMs: number,
  call: (caller: number) => Promise<void>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + durationMs;
  let last = start;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() < end) {
        const before = performance.now();
        await call(caller);
        last = performance.now();
        latencies.push(last - before);
      }
    }),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return {
    perSecond: latencies.length / ((last - start) / 1000),
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    count: latencies.length,
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of some figures, with the lowest and the highest. */
export function spread(values: readonly number[], digits: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median(values).toFixed(digits)} (${low} to ${high})`;
}
