import type { Sweep } from '../async/sweeper.ts';
import type { Billing } from '../billing/open-billing.ts';
import type { Config } from '../config.ts';

/** A change of plan is in force two seconds after its event, of which the caches of accounts take most of one. */
const EVERY_MS = 250;

/** What follows events of the payment provider; nothing where nothing is sold. */
export function billingSweeps(
  { selling }: Billing,
  { PLATEN_SWEEP_MS }: Pick<Config, 'PLATEN_SWEEP_MS'>,
): Sweep[] {
  if (selling === undefined) return [];
  const { events, sync } = selling;
  const everyMs = Math.min(EVERY_MS, PLATEN_SWEEP_MS);
  // Following events is the ordinary way: there is nothing to put right.
  const ordinary = (name: string, run: () => Promise<unknown>): Sweep => ({
    name,
    everyMs,
    async run() {
      await run();
      return undefined;
    },
  });
  return [
    ordinary('payment-events', () => events.resolveWaiting()),
    ordinary('subscriptions', () => sync.sweep()),
  ];
}
