import type { Billing } from '../billing/open-billing.ts';
import type { Config } from '../config/config.ts';
import type { Sweep } from '../infra/async/sweeper.ts';
import type { Metrics } from '../infra/telemetry/metrics.ts';

/**
 * In milliseconds. A change of plan is in force two seconds after its event; the caches of accounts take most of one.
 */
export const FOLLOW_EVERY_MS = 250;
const RECONCILE_EVERY_MS = 300_000;
const COUNT_EVERY_MS = 30_000;

/** The sweeps that follow events of the payment provider; none where nothing is sold. */
export function billingSweeps(
  { selling, blocks }: Billing,
  { PLATEN_SWEEP_MS }: Pick<Config, 'PLATEN_SWEEP_MS'>,
  metrics: Pick<Metrics, 'reconcileFindings' | 'overageBlocks' | 'billingDisputes'>,
): Sweep[] {
  if (selling === undefined) return [];
  const { events, sync, blockPurchases, reconcile, changes, disputes } = selling;
  const everyMs = Math.min(FOLLOW_EVERY_MS, PLATEN_SWEEP_MS);
  // Following events is ordinary work, not a repair.
  const ordinary = (name: string, run: () => Promise<unknown>): Sweep => ({
    name,
    everyMs,
    async run() {
      await run();
      return undefined;
    },
  });
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
    ordinary('payment-events', () => events.resolveWaiting()),
    ordinary('subscriptions', () => sync.sweep()),
    ordinary('block-purchases', () => blockPurchases.sweep()),
    ordinary('changes-of-blocks', () => changes.sweep()),
    { ...ordinary('expired-blocks', () => blockPurchases.expire()), everyMs: COUNT_EVERY_MS },
    finding('missed-payment-events', 'event', () => reconcile.events()),
    {
      ...ordinary('count-blocks', async () => {
        const counts = Object.entries(await blocks.counts());
        for (const [state, count] of counts) metrics.overageBlocks.set({ state }, count);
      }),
      everyMs: COUNT_EVERY_MS,
    },
    {
      ...ordinary('count-disputes', async () => {
        const counts = Object.entries(await disputes.open());
        for (const [about, count] of counts) metrics.billingDisputes.set({ about }, count);
      }),
      everyMs: RECONCILE_EVERY_MS,
    },
    { ...ordinary('reconcile-customers', () => reconcile.customers()), everyMs: RECONCILE_EVERY_MS },
    finding('half-made-schedules', 'schedule', () => reconcile.schedules()),
  ];
}
