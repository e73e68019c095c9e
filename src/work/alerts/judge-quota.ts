import type { QuotaPercent } from '../../tenants/notifications/thresholds.ts';
import type { Period } from '../../tenants/plans/quota-period.ts';
import { limitWith } from '../jobs/ledger/block-balance.ts';
import type { LedgerRecord } from '../jobs/ledger/ledger-record.ts';
import type { QuotaAlerted, SpendAlerted } from './alert-record.ts';

/** What an account may use, and has used. */
export interface QuotaUse {
  readonly period: Period;
  readonly used: number;
  /** Renders of the plan, and of blocks; while auto overage can buy, of the plan alone: a block is no news of the quota. */
  readonly limit: number;
  /** Renders that are left, with blocks. */
  readonly left: number;
  /** Whether auto overage buys a block when they are used up. */
  readonly buys: boolean;
}

/**
 * @param ledger with its blocks counted for the period.
 * @param quota renders of the plan in the period.
 */
export function quotaUse(
  ledger: LedgerRecord | undefined,
  period: Period,
  quota: number,
  now: Date,
): QuotaUse {
  const {
    enabled = false,
    allowed = false,
    spentCents = 0,
    capCents = 0,
    priceCents = 0,
  } = ledger?.overage ?? {};
  const used = ledger?.quota?.[period] ?? 0;
  const limit = limitWith(ledger, period, quota, now);
  const buys = enabled && allowed && spentCents + priceCents <= capCents;
  return { period, used, limit: buys ? quota : limit, left: Math.max(0, limit - used), buys };
}

/** The highest of the percentages that is reached; 0 for none. */
export function percentOf(used: number, limit: number, percents: readonly number[]): number {
  if (limit <= 0) return 0;
  return Math.max(0, ...percents.filter((percent) => 100 * used >= percent * limit));
}

/**
 * Whether there is something to tell. Each percentage is told once a period, however the use goes up and down. A quota
 * that is raised has its own: what was used before then counts as a part of the new one.
 */
export function judgeQuota(
  before: QuotaAlerted | undefined,
  { period, used, limit }: Pick<QuotaUse, 'period' | 'used' | 'limit'>,
  percents: readonly QuotaPercent[],
): { readonly state: QuotaAlerted; readonly tells: boolean } {
  const reached = percentOf(used, limit, percents);
  const told = toldOf(before?.period === period ? before : undefined, limit, percents);
  return { state: { period, used, limit, percent: Math.max(told, reached) }, tells: reached > told };
}

/** The same of the cap of auto overage. */
export function judgeSpend(
  before: SpendAlerted | undefined,
  { cycle, spentCents, capCents }: Pick<SpendAlerted, 'cycle' | 'spentCents' | 'capCents'>,
  percents: readonly QuotaPercent[],
): { readonly state: SpendAlerted; readonly tells: boolean } {
  const reached = percentOf(spentCents, capCents, percents);
  const same =
    before?.cycle === cycle
      ? { percent: before.percent, used: before.spentCents, limit: before.capCents }
      : undefined;
  const told = toldOf(same, capCents, percents);
  return { state: { cycle, spentCents, capCents, percent: Math.max(told, reached) }, tells: reached > told };
}

/** The percentage that was told, as one of a limit that may have been raised since. */
function toldOf(
  before: Pick<QuotaAlerted, 'percent' | 'used' | 'limit'> | undefined,
  limit: number,
  percents: readonly number[],
): number {
  if (before === undefined) return 0;
  return limit > before.limit
    ? Math.min(before.percent, percentOf(before.used, limit, percents))
    : before.percent;
}
