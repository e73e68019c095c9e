import type { Job } from './job.ts';
import type { JobEnds } from './job-ends.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

/**
 * Ends a live job by something else than its own attempt: a cancel, or the end of its time. One that waits is named in the
 * ledger first: at its place nobody would look for it before its turn.
 *
 * @param move the transition, of `job` as it was seen.
 * @returns the job as it ended; undefined when it had moved on meanwhile.
 */
export async function endEarly(
  parts: { readonly ledger: Ledger; readonly store: JobStore; readonly ends: JobEnds },
  job: Job,
  move: (job: Job) => Promise<Job | undefined>,
): Promise<Job | undefined> {
  const { ledger, store, ends } = parts;
  const waits = job.state === 'queued';
  if (waits) await ledger.announceLeaving(job.accountId, [job._id]);
  const ended = await move(job);
  if (ended !== undefined) {
    await ends.follow(ended);
    return ended;
  }
  if (!waits) return undefined;
  const now = await store.live.find(job._id);
  // Another ended it at the same moment, by the name that both have put into the ledger: that has to stay until it is used.
  if (now?.endedFrom === 'queued') await ends.follow(now);
  else await ledger.withdrawLeaving(job.accountId, [job._id]);
  return undefined;
}
