import type { Clock } from '../../infra/clock.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import {
  type Period as QuotaPeriod,
  type QuotaWindow,
  quotaPeriod,
  quotaResetDate,
} from '../plans/quota-period.ts';
import { maskAddress } from './mask-address.ts';
import { dayOf, periodStart, type ReportPeriod } from './periods.ts';
import type { RequestLog, RequestLogQuery } from './request-log.ts';
import type { UsageCounters } from './usage-counters.ts';
import type { SeriesPoint, SeriesQuery } from './usage-series.ts';

/** The account of a report, and its plan. */
export interface Reader {
  readonly accountId: string;
  readonly planName: PlanName;
  readonly plan: Plan;
  /** As in `Caller`. */
  readonly quotaWindow?: QuotaWindow | null | undefined;
}

export interface RequestLogOrder extends Omit<RequestLogQuery, 'accountId' | 'since' | 'now'> {
  readonly period: ReportPeriod;
}

/** PDFs that an account may still make in a period with this quota and its bought blocks. */
export type QuotaLeft = (accountId: string, period: QuotaPeriod, quota: number) => Promise<number>;

/** Reports to an account about its requests. The totals were counted as the requests came; no report counts entries. */
export class UsageReports {
  readonly #quotaLeft: QuotaLeft;
  readonly #counters: UsageCounters;
  readonly #log: RequestLog;
  readonly #clock: Clock;

  constructor(deps: {
    quotaLeft: QuotaLeft;
    counters: UsageCounters;
    requestLog: RequestLog;
    clock: Clock;
  }) {
    this.#quotaLeft = deps.quotaLeft;
    this.#counters = deps.counters;
    this.#log = deps.requestLog;
    this.#clock = deps.clock;
  }

  async summary(
    { accountId, planName, plan, quotaWindow }: Reader,
    period: ReportPeriod,
    includeBreakdown: boolean,
  ) {
    const now = this.#clock.now();
    const [{ keyBreakdown, ...totals }, remaining] = await Promise.all([
      this.#counters.usage(accountId, periodStart(period, now)),
      this.#quotaLeft(accountId, quotaPeriod(now, quotaWindow), plan.monthlyRenders),
    ]);
    return {
      plan: planName,
      ...totals,
      remaining,
      requestsPerMinute: plan.requestsPerMinute,
      concurrentRenders: plan.concurrentRenders,
      maxInputSizeBytes: plan.maxInputSizeBytes,
      maxOutputSizeBytes: plan.maxOutputSizeBytes,
      maxTimeoutMs: plan.maxTimeoutMs,
      resetDate: quotaResetDate(now, quotaWindow).toISOString().slice(0, 10),
      ...(includeBreakdown && { keyBreakdown }),
    };
  }

  /** The same totals over time, with the rendered PDFs. */
  async series(
    { accountId }: Pick<Reader, 'accountId'>,
    { period, ...query }: SeriesQuery & { readonly period: ReportPeriod },
  ): Promise<SeriesPoint[]> {
    const now = this.#clock.now();
    const start = periodStart(period, now);
    const since = query.interval === 'day' ? new Date(dayOf(start)) : start;
    return await this.#counters.series(accountId, { ...query, since, now });
  }

  async requestLog({ accountId, plan }: Reader, order: RequestLogOrder) {
    const { period, ...page } = order;
    const now = this.#clock.now();
    const since = periodStart(period, now);
    const { total, entries, endpoints, ...summary } = await this.#log.page({
      accountId,
      since,
      now,
      ...page,
    });
    const canRevealIp = plan.features.revealIp;
    return {
      total,
      endpointOptions: endpoints,
      summary,
      logs: entries.map(({ accountId: _, ...entry }) => ({
        ...entry,
        ipAddress: canRevealIp ? entry.ipAddress : maskAddress(entry.ipAddress),
      })),
      canRevealIp,
    };
  }
}
