import type { Clock } from '../../infra/clock.ts';
import type { Notifications } from '../../tenants/notifications/notifications.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { type QuotaWindow, quotaPeriod, quotaResetDate } from '../../tenants/plans/quota-period.ts';
import type { BlockLedger } from '../jobs/blocks/block-ledger.ts';
import type { AlertRecord, FailingAddress } from './alert-record.ts';
import type { AlertStore } from './alert-store.ts';
import { percentOf, quotaUse } from './judge-quota.ts';

interface AlertReportsDeps {
  readonly alerts: Pick<AlertStore, 'find'>;
  readonly blockLedger: Pick<BlockLedger, 'counted'>;
  readonly notifications: Pick<Notifications, 'thresholdsOf'>;
  readonly clock: Clock;
}

/** Reports to the people of an account what is the matter at the moment. */
export class AlertReports {
  readonly #deps: AlertReportsDeps;

  constructor(deps: AlertReportsDeps) {
    this.#deps = deps;
  }

  async of({
    accountId,
    plan,
    quotaWindow,
  }: {
    readonly accountId: string;
    readonly plan: Plan;
    readonly quotaWindow: QuotaWindow | null;
  }) {
    const { alerts, blockLedger, notifications, clock } = this.#deps;
    const now = clock.now();
    const period = quotaPeriod(now, quotaWindow);
    const [record, ledger, { quotaPercents }] = await Promise.all([
      alerts.find(accountId),
      blockLedger.counted(accountId, period, plan.monthlyRenders),
      notifications.thresholdsOf(accountId),
    ]);
    const { used, limit, left, buys } = quotaUse(ledger, period, plan.monthlyRenders, now);
    const { overage } = ledger ?? {};
    return {
      quota: {
        used,
        limit,
        left,
        percent: wholePercent(used, limit),
        reached: percentOf(used, limit, quotaPercents),
        renewsAt: quotaResetDate(now, quotaWindow),
        beyond: buys ? ('bought' as const) : ('rejected' as const),
      },
      spend:
        overage?.enabled && overage.allowed
          ? {
              spentCents: overage.spentCents,
              capCents: overage.capCents,
              percent: wholePercent(overage.spentCents, overage.capCents),
              reached: percentOf(overage.spentCents, overage.capCents, quotaPercents),
            }
          : null,
      failures: record?.failing?.now ?? null,
      webhooks: failingAddresses(record),
    };
  }
}

/** Those that people were told of, and that have not worked since. */
function failingAddresses(record: AlertRecord | undefined): FailingAddress[] {
  return Object.values(record?.webhooks ?? {}).filter(
    ({ toldAt, arrivedAt }) => toldAt !== undefined && arrivedAt === undefined,
  );
}

function wholePercent(part: number, of: number): number {
  return of === 0 ? 100 : Math.floor((100 * part) / of);
}
