import type { Job } from '../../renders/job.ts';
import type { JobCollections } from '../../renders/job-collections.ts';
import { type Quota, quotaPeriod } from '../../usage/quota.ts';

/** A reservation is confirmed within seconds of its job; one that is older may have lost its process. */
const PENDING_TOO_LONG_MS = 60_000;
const DAY_MS = 86_400_000;

/** Gives back reservations whose job was never written, and confirms those whose job was. */
export async function settleReservations(parts: {
  collections: JobCollections;
  quota: Quota;
  now: Date;
}): Promise<number> {
  const { collections, quota, now } = parts;
  // Around the turn of the month some may lie in the one before.
  const periods = new Set([quotaPeriod(now), quotaPeriod(new Date(now.getTime() - DAY_MS))]);
  let settled = 0;
  for (const period of periods) {
    const pending = await quota.pendingSince(period, new Date(now.getTime() - PENDING_TOO_LONG_MS));
    if (pending.length === 0) continue;
    const ids = pending.map(({ jobId }) => jobId);
    const [live, over] = (await Promise.all([
      collections.jobs.find({ _id: { $in: ids } }, { _id: 1 }).lean(),
      collections.history.find({ _id: { $in: ids } }, { _id: 1 }).lean(),
    ])) as Pick<Job, '_id'>[][];
    const written = new Set([...live!, ...over!].map((job) => job._id));
    for (const { accountId, jobId } of pending) {
      if (written.has(jobId)) await quota.confirm(accountId, period, [jobId]);
      else await quota.giveBack(accountId, period, jobId);
    }
    settled += pending.length;
  }
  return settled;
}
