import type { ErrorCode } from '../../infra/errors/registry.ts';
import type { RenderPhase } from '../../render/report/phases.ts';

/** The counts of one key in a period. A missing field is 0. */
export interface Tally {
  readonly apiKeyId: string;
  readonly total?: number;
  readonly failed?: number;
  /** Of the failures, those of requests that were refused: they have no job. Of these, too, by error code. */
  readonly refused?: number;
  readonly refusedCodes?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Failures by category. */
  readonly errors?: Readonly<Record<string, number>>;
  /** Failures by error code. */
  readonly codes?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Of the rendered PDFs. */
  readonly pages?: number;
  readonly bytes?: number;
  /** The number of renders in each bin of durations, by the bin's number; see `binOf`. */
  readonly ms?: Readonly<Record<string, number>>;
  /** Milliseconds that the renders spent in each phase, in total. */
  readonly phases?: Readonly<Partial<Record<RenderPhase, number>>>;
}

export interface KeyUsage {
  readonly apiKeyId: string;
  readonly totalRequests: number;
  readonly failedCount: number;
}

/** Adds counts to sums of the same names. */
export function addCounts(sums: Record<string, number>, counts: Readonly<Record<string, number>> = {}): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
}

export function totalUsage(tallies: readonly Tally[]) {
  const errorsByCategory: Record<string, number> = { validation: 0, render: 0, timeout: 0 };
  const keys = new Map<string, KeyUsage>();
  for (const { apiKeyId, total = 0, failed = 0, errors = {} } of tallies) {
    addCounts(errorsByCategory, errors);
    const key = keys.get(apiKeyId) ?? { apiKeyId, totalRequests: 0, failedCount: 0 };
    keys.set(apiKeyId, {
      apiKeyId,
      totalRequests: key.totalRequests + total,
      failedCount: key.failedCount + failed,
    });
  }
  const keyBreakdown = [...keys.values()].sort((a, b) => b.totalRequests - a.totalRequests);
  const totalRequests = keyBreakdown.reduce((sum, key) => sum + key.totalRequests, 0);
  const failedCount = keyBreakdown.reduce((sum, key) => sum + key.failedCount, 0);
  return {
    totalRequests,
    failedCount,
    successCount: totalRequests - failedCount,
    errorsByCategory,
    keyBreakdown,
  };
}

/** Renders that have ended with a PDF or an error. */
export interface RenderEnds {
  readonly renders: number;
  readonly failed: number;
  /** Failures by error code, the commonest first. */
  readonly codes: readonly { readonly code: string; readonly count: number }[];
}

/** Without rejected requests and cancelled renders. */
export function endsIn(tallies: readonly (Omit<Tally, 'apiKeyId'> | undefined)[]): RenderEnds {
  const byCode: Record<string, number> = {};
  let completed = 0;
  for (const { total = 0, failed = 0, codes, refusedCodes = {} } of tallies.filter(
    (one) => one !== undefined,
  )) {
    completed += total - failed;
    addCounts(byCode, codes);
    for (const [code, count] of Object.entries(refusedCodes)) byCode[code] = (byCode[code] ?? 0) - count;
  }
  const codes = Object.entries(byCode)
    .filter(([code, count]) => count > 0 && code !== 'CANCELLED')
    .map(([code, count]) => ({ code, count }))
    .sort((a, b) => b.count - a.count);
  const failed = codes.reduce((sum, { count }) => sum + count, 0);
  return { renders: completed + failed, failed, codes };
}
