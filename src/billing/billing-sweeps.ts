import type { Config } from '../config/config.ts';
import { ordinary, type Sweep } from '../infra/async/sweeper.ts';
import type { BillingMetrics } from './billing-metrics.ts';
import type { Billing } from './open-billing.ts';

/** Milliseconds. A change of plan is in force 2 s after its event; the caches of accounts take most of one. */
export const FOLLOW_EVERY_MS = 250;
const RECONCILE_EVERY_MS = 300_000;
const COUNT_EVERY_MS = 30_000;

/** The sweeps that follow events of the payment provider; none where nothing is sold. */
export function billingSweeps(
  { selling, blocks }: Billing,
  { PLATEN_SWEEP_MS }: Pick<Config, 'PLATEN_SWEEP_MS'>,
  metrics: Pick<BillingMetrics, 'reconcileFindings' | 'overageBlocks' | 'billingDisputes'>,
): Sweep[] {
  if (selling === undefined) return [];
  const { events, sync, blockPurchases, reconcile, changes, disputes } = selling;
  const everyMs = Math.min(FOLLOW_EVERY_MS, PLATEN_SWEEP_MS);
  /** A sweep whose findings were missed or left behind. */
  function finding(name: string, kind: 'event' | 'schedule', find: () => Promise<number>): Sweep {
    // A counter that starts at its first finding would show no increase for it, and alerts go by increases.
    metrics.reconcileFindings.inc({ kind }, 0);
    return {
      name,
      everyMs: RECONCILE_EVERY_MS,
      async run() {
        const found = await find();
        metrics.reconcileFindings.inc({ kind }, found);
        return found;
      },
    };
  }
  return [
    // Following events is ordinary work, not a repair.
    ordinary('payment-events', everyMs, () => events.resolveWaiting()),
    ordinary('subscriptions', everyMs, () => sync.sweep()),
    ordinary('block-purchases', everyMs, () => blockPurchases.sweep()),
    ordinary('changes-of-blocks', everyMs, () => changes.sweep()),
    ordinary('expired-blocks', COUNT_EVERY_MS, () => blockPurchases.expire()),
    finding('missed-payment-events', 'event', () => reconcile.events()),
    ordinary('count-blocks', COUNT_EVERY_MS, async () => {
      for (const [state, count] of Object.entries(await blocks.counts()))
        metrics.overageBlocks.set({ state }, count);
    }),
    ordinary('count-disputes', RECONCILE_EVERY_MS, async () => {
      for (const [about, count] of Object.entries(await disputes.open()))
        metrics.billingDisputes.set({ about }, count);
    }),
    ordinary('reconcile-customers', RECONCILE_EVERY_MS, () => reconcile.customers()),
    finding('half-made-schedules', 'schedule', () => reconcile.schedules()),
  ];
}
