import type { Core } from '../../infra/core.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import {
  type Period as QuotaPeriod,
  type QuotaWindow,
  quotaPeriod,
  quotaResetDate,
} from '../plans/quota-period.ts';
import { maskAddress } from './mask-address.ts';
import { dayOf, periodStart, type ReportPeriod } from './periods.ts';
import type { RequestDetailsStore } from './request-details.ts';
import type { RequestLog, RequestLogEntry, RequestLogQuery } from './request-log.ts';
import type { UsageCounters } from './usage-counters.ts';
import type { SeriesPoint, SeriesQuery } from './usage-series.ts';

/** The account of a report, and its plan. */
export interface Reader {
  readonly accountId: string;
  readonly planName: PlanName;
  readonly plan: Plan;
  readonly quotaWindow?: QuotaWindow | null | undefined;
}

export interface RequestLogOrder extends Omit<RequestLogQuery, 'accountId' | 'since' | 'now'> {
  readonly period: ReportPeriod;
}

/** PDFs that an account may still make in a period with this quota and its bought blocks. */
export type QuotaLeft = (accountId: string, period: QuotaPeriod, quota: number) => Promise<number>;

interface UsageReportsDeps extends Pick<Core, 'clock'> {
  readonly quotaLeft: QuotaLeft;
  readonly counters: UsageCounters;
  readonly requestLog: RequestLog;
  readonly requestDetails: RequestDetailsStore;
}

/** Reports to an account about its requests. The totals were counted as the requests came; no report counts entries. */
export class UsageReports {
  readonly #deps: UsageReportsDeps;

  constructor(deps: UsageReportsDeps) {
    this.#deps = deps;
  }

  async summary(
    { accountId, planName, plan, quotaWindow }: Reader,
    period: ReportPeriod,
    includeBreakdown: boolean,
  ) {
    const now = this.#deps.clock.now();
    const [{ keyBreakdown, ...totals }, remaining] = await Promise.all([
      this.#deps.counters.usage(accountId, periodStart(period, now)),
      this.#deps.quotaLeft(accountId, quotaPeriod(now, quotaWindow), plan.monthlyRenders),
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
    const now = this.#deps.clock.now();
    const start = periodStart(period, now);
    const since = query.interval === 'day' ? new Date(dayOf(start)) : start;
    return await this.#deps.counters.series(accountId, { ...query, since, now });
  }

  async requestLog({ accountId, plan }: Reader, order: RequestLogOrder) {
    const { period, ...page } = order;
    const now = this.#deps.clock.now();
    const since = periodStart(period, now);
    const { total, entries, endpoints, ...summary } = await this.#deps.requestLog.page({
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
      logs: entries.map((entry) => shownTo(plan, entry)),
      canRevealIp,
    };
  }

  /** One entry of the log, with what was said, if that is kept. @returns undefined when the account has no such entry. */
  async loggedRequest({ accountId, plan }: Reader, id: string) {
    const [entry, details] = await Promise.all([
      this.#deps.requestLog.find(accountId, id),
      this.#deps.requestDetails.find(`${accountId}:${id}`),
    ]);
    const isKept = details !== undefined && details.endsAt > this.#deps.clock.now();
    return entry && { entry: shownTo(plan, entry), details: isKept ? details : undefined };
  }
}

function shownTo({ features }: Plan, entry: RequestLogEntry): RequestLogEntry {
  return features.revealIp ? entry : { ...entry, ipAddress: maskAddress(entry.ipAddress) };
}
