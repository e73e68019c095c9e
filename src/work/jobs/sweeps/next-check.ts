import type { Job } from '../job.ts';
import { CHECK_AFTER_MS, RECHECK_MS } from '../ledger/ledger-due.ts';
import { type LedgerRecord, queuesAreEmpty } from '../ledger/ledger-record.ts';
import { DEAD_MS, UNDECIDED_MS, UNFOLLOWED_MS } from './interrupted-jobs.ts';

/**
 * When a sweep has to look next at a ledger in which it has found nothing to repair: as soon as one of its entries can be
 * overdue. What is overdue already has to wait for something else, and is looked at again a little later.
 *
 * @param live the live jobs among those that hold slots.
 * @param nowMs epoch milliseconds.
 * @param redeliveryMs as for the repair of dispatched jobs.
 * @returns epoch milliseconds, a minute ahead at most.
 */
export function nextCheck(
  ledger: LedgerRecord,
  live: ReadonlyMap<string, Job>,
  { nowMs, redeliveryMs }: { readonly nowMs: number; readonly redeliveryMs: number },
): number {
  const { holders = {}, pending = {}, finalising = {}, ending = {}, inFlight } = ledger;
  const times = [nowMs + RECHECK_MS];
  const add = (time: number) => {
    times.push(time > nowMs ? time : nowMs + CHECK_AFTER_MS);
  };
  for (const [jobId, { since }] of Object.entries(holders)) {
    const job = live.get(jobId);
    add(job === undefined ? since + DEAD_MS : overdueAt(job, since, redeliveryMs));
  }
  for (const { since } of Object.values(pending)) add(since + DEAD_MS);
  for (const since of Object.values(finalising)) {
    const unfollowed = since + UNFOLLOWED_MS;
    add(unfollowed > nowMs ? unfollowed : since + UNDECIDED_MS);
  }
  for (const since of Object.values(ending)) add(since + UNFOLLOWED_MS);
  // Slots are given out when a job ends. Where none runs, that is because of the plan, or of a suspension.
  if (inFlight === 0 && !queuesAreEmpty(ledger)) add(nowMs + CHECK_AFTER_MS);
  return Math.min(...times);
}

/** @param since when the job got its slot. */
function overdueAt(job: Job, since: number, redeliveryMs: number): number {
  const changed = job.updatedAt.getTime();
  switch (job.state) {
    case 'dispatched':
      return changed + redeliveryMs;
    case 'processing':
      return job.leaseExpiresAt?.getTime() ?? since + DEAD_MS;
    case 'queued':
      return since + DEAD_MS;
    default:
      return changed + UNFOLLOWED_MS;
  }
}
