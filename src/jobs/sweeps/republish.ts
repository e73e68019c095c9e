import type { Plan } from '../../plans/plan.ts';
import type { Dispatch } from '../dispatch.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';

const BATCH = 1000;

/** Publishes again the pointers of jobs that were dispatched a while ago and that no worker has claimed: the message may be lost. */
export async function republish(parts: {
  collections: JobCollections;
  dispatch: Dispatch;
  planOf: (accountId: string) => Promise<Plan>;
  now: Date;
  unclaimedForMs: number;
}): Promise<number> {
  const { collections, dispatch, planOf, now, unclaimedForMs } = parts;
  const before = new Date(now.getTime() - unclaimedForMs);
  const stale = (await collections.jobs
    .find({ state: 'dispatched', updatedAt: { $lte: before } })
    .limit(BATCH)
    .lean()) as Job[];
  for (const job of stale) {
    // Touching it spaces the pointers; a claim in between makes the update miss.
    const touched = await collections.jobs.updateOne(
      { _id: job._id, version: job.version },
      { $set: { updatedAt: now } },
    );
    if (touched.modifiedCount === 1) dispatch.publish(job, await planOf(job.accountId));
  }
  return stale.length;
}
