import { type ErrorCode, PlatenError } from '../../errors/registry.ts';
import type { Dispatch } from '../dispatch.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { judge } from '../retry-policy.ts';

const BATCH = 1000;

/** Takes jobs from workers that have stopped renewing their lease: to be tried again, or failed. */
export async function expireLeases(parts: {
  collections: JobCollections;
  lifecycle: Lifecycle;
  dispatch: Dispatch;
  now: Date;
  retryBaseMs: number;
  random: () => number;
  /** Told of every attempt that will be repeated. */
  onRetried: (code: ErrorCode) => void;
}): Promise<number> {
  const { collections, lifecycle, dispatch, now, retryBaseMs, random, onRetried } = parts;
  const lost = (await collections.jobs
    .find({ state: 'processing', leaseExpiresAt: { $lte: now } })
    .limit(BATCH)
    .lean()) as Job[];
  const error = new PlatenError('WORKER_LOST');
  for (const job of lost) {
    const verdict = judge(job, error, retryBaseMs, random);
    const moved =
      verdict.kind === 'retry'
        ? await lifecycle.retryLater(job, error, verdict.delayMs)
        : await lifecycle.fail(job, error);
    if (moved === undefined) continue;
    if (verdict.kind === 'retry') onRetried(error.code);
    await dispatch.settle(moved);
  }
  return lost.length;
}
