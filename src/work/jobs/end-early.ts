import { randomBytes } from 'node:crypto';
import type { PlatenError } from '../../infra/errors/registry.ts';
import { finalisingName, type Job } from './job.ts';
import type { JobFollowUp } from './job-follow-up.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

/** How jobs are ended before their own attempts end them. */
interface EarlyEnd {
  /** The error of the jobs; without an error they are cancelled. */
  readonly error?: PlatenError;
  /** Resolves when every step after their end is done, as `followWhole` does. */
  readonly whole?: boolean;
}

/**
 * Ends live jobs of one account by a cancellation, or because their time is over. The ledger names waiting jobs first,
 * because no sweep would find them at their positions before the head reaches them. Each step is taken for all jobs
 * together, so that its cost hardly grows with their number.
 *
 * @param jobs as read a moment ago: one job, or waiting jobs with the same version and retention.
 * @returns the jobs that this call has ended; other jobs have changed meanwhile.
 */
export async function endEarly(
  deps: {
    readonly ledger: Ledger;
    readonly followUp: JobFollowUp;
    readonly store: Pick<JobStore, 'transitions'>;
  },
  jobs: readonly Job[],
  { error, whole = false }: EarlyEnd = {},
): Promise<Job[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const { ledger, followUp, store } = deps;
  const { accountId } = first;
  const waits = first.state === 'queued';
  // Unique to this attempt: if several processes end a job at the same moment, the job shows which of them succeeded.
  const finalising = randomBytes(6).toString('hex');
  const seen = waits ? jobs.map((job) => ({ ...job, finalising })) : jobs;
  if (waits) await ledger.announceEnds(accountId, ...seen.map(finalisingName));
  const { transitions } = store;
  const ended = error === undefined ? await transitions.cancel(seen) : await transitions.fail(seen, error);
  const ids = new Set(ended.map(({ _id }) => _id));
  const moved = seen.filter(({ _id }) => !ids.has(_id));
  if (waits && moved.length > 0) await ledger.withdrawEnds(accountId, ...moved.map(finalisingName));
  if (ended.length > 0) await (whole ? followUp.followWhole(ended) : followUp.follow(ended));
  return ended;
}
