import { randomBytes } from 'node:crypto';
import type { PlatenError } from '../errors/registry.ts';
import { finalisingName, type Job } from './job.ts';
import type { JobEnds } from './job-ends.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

/** How jobs are ended early. */
export interface EarlyEnd {
  /** They fail with it; without one they are cancelled. */
  readonly error?: PlatenError;
  /** Resolves when all that follows their end is done, as `followWhole` does. */
  readonly whole?: boolean;
}

/**
 * Ends live jobs of one account by something else than their own attempts: a cancel, or the end of their time. Waiting jobs
 * are named in the ledger first: at their positions no sweep would find them before the head reaches them. Each step is
 * taken for all jobs together, so its cost does not grow with their number but for what has to be written.
 *
 * @param jobs as they were seen a moment ago: one job; or waiting jobs that have the same version and retention.
 * @returns the jobs that it has ended; the others had moved on meanwhile.
 */
export async function endEarly(
  deps: { readonly ledger: Ledger; readonly ends: JobEnds; readonly store: Pick<JobStore, 'transitions'> },
  jobs: readonly Job[],
  { error, whole = false }: EarlyEnd = {},
): Promise<Job[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const { ledger, ends, store } = deps;
  const { accountId } = first;
  const waits = first.state === 'queued';
  // Of this try alone: where several processes end a job at the same moment, the name of the one that did is used.
  const leaving = randomBytes(6).toString('hex');
  const seen = waits ? jobs.map((job) => ({ ...job, leaving })) : jobs;
  if (waits) await ledger.announceEnds(accountId, ...seen.map(finalisingName));
  const { transitions } = store;
  const ended = error === undefined ? await transitions.cancel(seen) : await transitions.fail(seen, error);
  const ids = new Set(ended.map(({ _id }) => _id));
  const moved = seen.filter(({ _id }) => !ids.has(_id));
  if (waits && moved.length > 0) await ledger.withdrawEnds(accountId, ...moved.map(finalisingName));
  if (ended.length > 0) await (whole ? ends.followWhole(ended) : ends.follow(ended));
  return ended;
}
