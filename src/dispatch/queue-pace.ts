import type { Plan } from '../plans/plan.ts';
import type { Job } from '../renders/job.ts';
import type { JobCollections } from '../renders/job-collections.ts';

const LOOKED_AT = 20;
/** For an account that has no history to judge by. */
const FIRST_GUESS_MS = 5000;
const LONGEST_S = 60;

/**
 * In how many seconds an account's full queue moves on by one job, judged by its last renders: while every slot is
 * taken, one of them ends after a render's time divided by the number of slots. A slow render counts more than a quick
 * one, so the slower half decides.
 */
export async function secondsPerStep(
  collections: JobCollections,
  accountId: string,
  plan: Pick<Plan, 'concurrentRenders'>,
): Promise<number> {
  const last = (await collections.history
    .find({ accountId }, { processingTimeMs: 1 })
    .sort({ createdAt: -1 })
    .limit(LOOKED_AT)
    .lean()) as Pick<Job, 'processingTimeMs'>[];
  const times = last.map((job) => job.processingTimeMs).sort((a, b) => a - b);
  const typical = times[Math.floor(times.length * 0.75)] ?? FIRST_GUESS_MS;
  const seconds = Math.ceil(typical / plan.concurrentRenders / 1000);
  return Math.min(LONGEST_S, Math.max(1, seconds));
}
