import { expireLeases } from '../jobs/sweeps/expire-leases.ts';
import { measure } from '../jobs/sweeps/measure.ts';
import { recountSlots } from '../jobs/sweeps/recount-slots.ts';
import { republish } from '../jobs/sweeps/republish.ts';
import { settleReservations } from '../jobs/sweeps/reservations.ts';
import { deleteOrphanInputs, endRetention, moveLeftBehind } from '../jobs/sweeps/retention.ts';
import { expireWaiting, serveWaiting } from '../jobs/sweeps/serve-waiting.ts';
import { type Sweep, Sweeper } from '../jobs/sweeps/sweeper.ts';
import type { Part } from './part.ts';
import type { Platform } from './platform.ts';

/** Retention is counted in hours; looking once a minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
const ORPHAN_SWEEP_MS = 3_600_000;
/** No sweep finishing for this long means that they are stuck. */
const STUCK_AFTER_MS = 120_000;

/** The sweeps that make whole what crashes, lost messages and time have left behind. */
export function startDispatcherPart(platform: Platform): Part {
  const { config, clock, metrics, collections, lifecycle, dispatch, slots, outputs, planOf } = platform;
  const sweeper = new Sweeper(platform.logger, (sweep, put, failed) => {
    metrics.sweeps.inc({ sweep, outcome: failed ? 'failed' : 'done' });
    if (put > 0) metrics.sweepRepairs.inc({ sweep }, put);
  });
  const everyMs = config.PLATEN_SWEEP_MS;
  const common = { collections, lifecycle, dispatch, slots, planOf };
  const sweeps: Sweep[] = [
    {
      name: 'expire-leases',
      everyMs,
      run: () =>
        expireLeases({
          ...common,
          now: clock.now(),
          retryBaseMs: config.PLATEN_RETRY_BASE_MS,
          random: Math.random,
          onRetried: (code) => metrics.retries.inc({ code }),
        }),
    },
    { name: 'serve-waiting', everyMs, run: () => serveWaiting({ ...common, now: clock.now() }) },
    {
      name: 'republish',
      everyMs,
      run: () => republish({ ...common, now: clock.now(), unclaimedForMs: config.PLATEN_REDELIVERY_MS }),
    },
    { name: 'recount-slots', everyMs, run: () => recountSlots({ ...common, now: clock.now() }) },
    {
      name: 'move-left-behind',
      everyMs,
      run: () => moveLeftBehind(collections, clock.now(), (job) => platform.settlement.returnUnused(job)),
    },
    {
      name: 'measure',
      everyMs: Math.max(everyMs, 1000),
      run: () => measure({ collections, plans: platform.plans, metrics }),
    },
    {
      name: 'reservations',
      everyMs: SLOW_SWEEP_MS,
      run: () => settleReservations({ collections, quota: platform.quota, now: clock.now() }),
    },
    { name: 'request-logs', everyMs: SLOW_SWEEP_MS, run: () => platform.requestLog.deleteOld(clock.now()) },
    { name: 'usage-buckets', everyMs: SLOW_SWEEP_MS, run: () => platform.counters.deleteOld(clock.now()) },
    { name: 'rate-windows', everyMs: SLOW_SWEEP_MS, run: () => platform.limiter.deleteOld(clock.now()) },
    {
      name: 'idempotency-keys',
      everyMs: SLOW_SWEEP_MS,
      run: () => platform.idempotency.deleteExpired(clock.now()),
    },
    {
      name: 'account-records',
      everyMs: SLOW_SWEEP_MS,
      run: () => platform.accountServices.deleteExpired(clock.now()),
    },
    {
      name: 'expire-waiting',
      everyMs: SLOW_SWEEP_MS,
      run: () => expireWaiting({ ...common, now: clock.now() }),
    },
    {
      name: 'end-retention',
      everyMs: SLOW_SWEEP_MS,
      run: () => endRetention(collections, outputs, clock.now()),
    },
    {
      name: 'orphan-inputs',
      everyMs: ORPHAN_SWEEP_MS,
      run: () => deleteOrphanInputs(collections, clock.now()),
    },
  ];
  sweeper.start(sweeps);
  return {
    stop: () => sweeper.stop(),
    problems: () => [],
    stuck: () =>
      Date.now() - sweeper.lastRun > STUCK_AFTER_MS ? 'dispatcher: no sweep has finished lately' : undefined,
  };
}
