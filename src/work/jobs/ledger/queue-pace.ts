import type { Plan } from '../../../tenants/plans/plan.ts';
import type { LedgerRecord } from './ledger-record.ts';

const LONGEST_S = 60;

/**
 * In how many seconds an account's full queue advances by one job, estimated from the jobs that hold its slots now: on
 * average they have had half of their time, and the slots become free at the interval of that time divided by their
 * number.
 */
export function secondsPerJob(
  ledger: LedgerRecord | undefined,
  plan: Pick<Plan, 'concurrentRenders'>,
  now: Date,
): number {
  const held = Object.values(ledger?.holders ?? {}).map(({ since }) => now.getTime() - since);
  const mean = held.reduce((sum, ms) => sum + ms, 0) / Math.max(1, held.length);
  const seconds = Math.ceil((2 * mean) / plan.concurrentRenders / 1000);
  return Math.min(LONGEST_S, Math.max(1, seconds));
}
