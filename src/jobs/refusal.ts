import { PlatenError } from '../errors/registry.ts';
import type { Plan } from '../plans/plan.ts';
import { quotaResetDate } from '../usage/quota-period.ts';
import type { QuotaLimit } from './ledger/ledger.ts';
import type { LedgerRecord } from './ledger/ledger-record.ts';
import { secondsPerJob } from './ledger/queue-pace.ts';

/**
 * Why an account's ledger had neither slots nor places for new jobs.
 *
 * @param count how many there were.
 */
export function refusalOf(
  record: LedgerRecord | undefined,
  count: number,
  plan: Plan,
  quota: QuotaLimit | undefined,
  now: Date,
): PlatenError {
  const used = quota === undefined ? 0 : (record?.quota?.[quota.period] ?? 0);
  if (quota !== undefined && used + count > quota.limit) {
    const reset = quotaResetDate(now).toISOString().slice(0, 10);
    return new PlatenError(
      'QUOTA_EXCEEDED',
      count === 1
        ? `The ${quota.limit} PDFs of this month are used up until ${reset}.`
        : `Of the ${quota.limit} PDFs of this month ${Math.max(0, quota.limit - used)} are left until ${reset}.`,
    );
  }
  return new PlatenError(
    'TOO_MANY_WAITING',
    `${record?.waiting ?? 0} jobs of this account are waiting; the plan allows ${plan.maxWaitingJobs}.`,
    { retryAfterSeconds: secondsPerJob(record, plan, now) },
  );
}
