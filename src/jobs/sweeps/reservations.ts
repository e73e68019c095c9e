import type { Quota } from '../../usage/quota.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';

/** A reservation is confirmed within seconds of its job; one that is older may have lost its process. */
const PENDING_TOO_LONG_MS = 60_000;

/** Takes back reservations whose job was never written, and confirms those whose job was. */
export async function settleReservations(parts: {
  collections: JobCollections;
  quota: Quota;
  now: Date;
}): Promise<number> {
  const { collections, quota, now } = parts;
  const before = now.getTime() - PENDING_TOO_LONG_MS;
  const left = (await quota.pending()).filter(({ since }) => since <= before);
  if (left.length === 0) return 0;
  const ids = left.map(({ jobId }) => jobId);
  // In this order: a job that moves meanwhile is met at least once.
  const live = (await collections.jobs.find({ _id: { $in: ids } }, { _id: 1 }).lean()) as Pick<Job, '_id'>[];
  const over = (await collections.history.find({ _id: { $in: ids } }, { _id: 1 }).lean()) as typeof live;
  const written = new Set([...live, ...over].map((job) => job._id));
  for (const { accountId, period, jobId, since } of left) {
    if (written.has(jobId)) await quota.confirm(accountId, period, [jobId]);
    else await quota.undo(accountId, period, jobId, since);
  }
  return left.length;
}
