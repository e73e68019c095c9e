import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { type Histogram, observations, quantile, readHistogram, since } from '../support/histogram.ts';
import { cpuSeconds } from '../support/processes.ts';

/** What the controller has done up to a moment. */
export interface Measurement {
  readonly atMs: number;
  readonly reconciliations: Histogram;
  /** Calls of the API server that were answered, by method. */
  readonly calls: ReadonlyMap<string, number>;
  readonly failed: number;
  readonly cpuSeconds: number;
}

const READS: ReadonlySet<string> = new Set(['GET']);

export async function read(url: string, pid: number): Promise<Measurement> {
  const { body } = await request(`${url}/metrics`);
  const text = await body.text();
  const calls = new Map<string, number>();
  let failed = 0;
  for (const [, method = '', status, count] of text.matchAll(
    /^platen_kubernetes_calls_total\{.*?method="(\w+)",status="(\d+)".*?\} (\d+)$/gm,
  )) {
    calls.set(method, (calls.get(method) ?? 0) + Number(count));
    if (status === '0' || Number(status) >= 400) failed += Number(count);
  }
  const checks = readHistogram(text, 'platen_reconcile_duration_seconds', { controller: 'pools' });
  return { atMs: performance.now(), reconciliations: checks, calls, failed, cpuSeconds: cpuSeconds(pid) };
}

/** What was done between two readings, as a line. */
export function compare(
  before: Measurement,
  after: Measurement,
): { readonly writes: number; readonly text: string } {
  const seconds = (after.atMs - before.atMs) / 1000;
  const checks = since(before.reconciliations, after.reconciliations);
  const done = [...after.calls].map(
    ([method, count]) => [method, count - (before.calls.get(method) ?? 0)] as const,
  );
  const total = done.reduce((sum, [, count]) => sum + count, 0);
  const writes = done.filter(([method]) => !READS.has(method)).reduce((sum, [, count]) => sum + count, 0);
  const ms = (share: number) => (quantile(checks, share) * 1000).toFixed(1);
  const byMethod = done.filter(([, count]) => count > 0).map(([method, count]) => `${count} ${method}`);
  return {
    writes,
    text: [
      `${seconds.toFixed(1)} s`,
      `${observations(checks)} looks at pools, p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms`,
      `${(total / seconds).toFixed(1)} API calls/s (${byMethod.join(', ') || 'none'}; ${after.failed - before.failed} not found or refused)`,
      `${(((after.cpuSeconds - before.cpuSeconds) / seconds) * 100).toFixed(0)} % of a core`,
    ].join('\n    '),
  };
}

/** Megabytes that a process has in memory, and has had at most. */
export function memoryOf(pid: number): { readonly nowMb: number; readonly peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { nowMb: mb('VmRSS'), peakMb: mb('VmHWM') };
}
