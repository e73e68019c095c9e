import { PlatenError } from '../../infra/errors/registry.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { type QuotaWindow, quotaResetDate, testPeriod } from '../../tenants/plans/quota-period.ts';
import type { QuotaLimit, StoredLimit } from './ledger/ledger.ts';
import type { LedgerRecord } from './ledger/ledger-record.ts';
import { secondsPerJob } from './ledger/queue-pace.ts';

/** Resources that new jobs need in addition to slots or positions. */
interface Wanted {
  readonly quota: QuotaLimit | undefined;
  readonly stored: StoredLimit;
}

/** Why an account's ledger has rejected new jobs. @param count the number of new jobs. */
export function rejectionOf(
  record: LedgerRecord | undefined,
  count: number,
  { plan, quotaWindow }: { readonly plan: Plan; readonly quotaWindow?: QuotaWindow | null | undefined },
  { quota, stored }: Wanted,
  now: Date,
): PlatenError {
  const used = quota === undefined ? 0 : (record?.quota?.[quota.period] ?? 0);
  const otherwise =
    quota?.balanceVersion !== undefined && quota.balanceVersion !== record?.blockBalance?.version;
  if (quota !== undefined && (otherwise || used + count > quota.limit))
    return usedUp(quota, used, count, now, quotaWindow ?? null);
  const kept = record?.stored ?? 0;
  if (kept + stored.bytes > stored.max) return storageFull(kept, stored);
  return new PlatenError(
    'TOO_MANY_WAITING',
    `${record?.waiting ?? 0} jobs of this account are waiting; the plan allows ${plan.maxWaitingJobs}.`,
    { retryAfterSeconds: secondsPerJob(record, plan, now) },
  );
}

/** @param kept bytes that the account stores already. */
function storageFull(kept: number, { bytes, max }: StoredLimit): PlatenError {
  return new PlatenError(
    'STORAGE_FULL',
    `The account keeps ${kept} bytes, and these would be ${bytes} more; the plan allows ${max}.`,
  );
}

function usedUp(
  { period, limit }: QuotaLimit,
  used: number,
  count: number,
  now: Date,
  window: QuotaWindow | null,
): PlatenError {
  const ofDay = period === testPeriod(now);
  const what = ofDay ? 'test renders of this day' : 'PDFs of this month';
  const reset = ofDay ? 'midnight UTC' : quotaResetDate(now, window).toISOString().slice(0, 10);
  return new PlatenError(
    ofDay ? 'TEST_QUOTA_EXCEEDED' : 'QUOTA_EXCEEDED',
    count === 1
      ? `The ${limit} ${what} are used up until ${reset}.`
      : `Of the ${limit} ${what} ${Math.max(0, limit - used)} are left until ${reset}.`,
  );
}
