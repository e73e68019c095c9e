import { PlatenError } from '../../errors/registry.ts';
import type { Dispatch } from '../dispatch.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';
import type { Lifecycle } from '../lifecycle.ts';

const BATCH = 1000;
const HOUR_MS = 3_600_000;

/** Gives free slots to accounts with jobs that may run: retries that are due, and what a crash left standing. */
export async function serveWaiting(parts: {
  collections: JobCollections;
  dispatch: Dispatch;
  now: Date;
}): Promise<number> {
  const { collections, dispatch, now } = parts;
  const accounts = await collections.jobs.distinct('accountId', {
    state: 'queued',
    notBefore: { $lte: now },
  });
  for (const accountId of accounts) await dispatch.fill(accountId as string);
  return accounts.length;
}

/** Ends jobs that have waited for longer than their output would have been kept. */
export async function expireWaiting(parts: {
  collections: JobCollections;
  lifecycle: Lifecycle;
  dispatch: Dispatch;
  now: Date;
}): Promise<number> {
  const { collections, lifecycle, dispatch, now } = parts;
  // No retention is shorter than an hour, so anything younger cannot be due.
  const before = new Date(now.getTime() - HOUR_MS);
  const old = (await collections.jobs
    .find({ state: 'queued', createdAt: { $lte: before } })
    .limit(BATCH)
    .lean()) as Job[];
  let ended = 0;
  for (const job of old) {
    if (job.createdAt.getTime() + job.retentionHours * HOUR_MS > now.getTime()) continue;
    const failed = await lifecycle.fail(job, new PlatenError('EXPIRED'));
    if (failed === undefined) continue;
    await dispatch.settle(failed);
    ended += 1;
  }
  return ended;
}
