import { randomBytes } from 'node:crypto';
import { type Job, leavingName } from './job.ts';
import type { JobEnds } from './job-ends.ts';
import type { Ledger } from './ledger/ledger.ts';

/**
 * Ends a live job by something else than its own attempt: a cancel, or the end of its time. One that waits is named in the
 * ledger first: at its place nobody would look for it before its turn.
 *
 * @param move the transition, of `job` as it was seen.
 * @returns the job as it ended; undefined when it had moved on meanwhile.
 */
export async function endEarly(
  parts: { readonly ledger: Ledger; readonly ends: JobEnds },
  job: Job,
  move: (job: Job) => Promise<Job | undefined>,
): Promise<Job | undefined> {
  const { ledger, ends } = parts;
  if (job.state !== 'queued') {
    const ended = await move(job);
    if (ended !== undefined) await ends.follow(ended);
    return ended;
  }
  // Of this try alone: where several end a job at the same moment, the name of the one who did is used, and no other.
  const leaving = randomBytes(6).toString('hex');
  const name = leavingName({ ...job, leaving });
  await ledger.announceLeaving(job.accountId, name);
  const ended = await move({ ...job, leaving });
  if (ended === undefined) await ledger.withdrawLeaving(job.accountId, name);
  else await ends.follow(ended);
  return ended;
}
