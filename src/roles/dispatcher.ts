import { join } from 'node:path';
import { billingSweeps } from '../billing/billing-sweeps.ts';
import { ordinary, restPauseMs, type Sweep, Sweeper } from '../infra/async/sweeper.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { openMailSender } from '../tenants/mail/open-sender.ts';
import { AlertJudge } from '../work/alerts/alert-judge.ts';
import { openSources } from '../work/batches/open-sources.ts';
import { openCallbackSender, openUploadSender } from '../work/callbacks/open-sender.ts';
import { endCallbacks } from '../work/callbacks/retention.ts';
import { workSweeps } from '../work/work-sweeps.ts';
import type { Core } from './core.ts';
import type { Component } from './process/component.ts';
import { openDeletion, type Services } from './services.ts';
import { wayOutOf } from './way-out.ts';

/** In milliseconds. Retention is counted in hours; a check per minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
/** How many times their pauses sweeps pause while nothing happens. */
const TAKEOVERS_AT_REST = 10;
const DELETIONS_AT_REST = 60;
const ALERTS_AT_REST = 60;
const SLOW_AT_REST = 4;
/** In milliseconds. A dead worker is no longer seen after seconds; its record may be of use to a person for a while. */
const FORGET_WORKER_MS = 300_000;
/** If no sweep finishes for this long, the sweeps are stuck; in milliseconds. */
const STUCK_AFTER_MS = 120_000;

/** The sweeps that repair what crashes, lost messages and time have left behind. */
export async function startDispatcher(core: Core, services: Services): Promise<Component> {
  const { metrics, logger, connection } = core;
  const { sweeps, stop } = openSweeps(core, services, () => sweeper.wake());
  await ensureIndexes(connection, core.stopped);
  const sweeper = new Sweeper(logger, (sweep, repaired, failed) => {
    metrics.sweeps.inc({ sweep, outcome: failed ? 'failed' : 'done' });
    if (repaired > 0) metrics.sweepRepairs.inc({ sweep }, repaired);
  });
  // Counted from zero: otherwise the first failure and the first repair of a sweep would not show as an increase.
  for (const { name: sweep } of sweeps) {
    for (const outcome of ['done', 'failed']) metrics.sweeps.inc({ sweep, outcome }, 0);
    metrics.sweepRepairs.inc({ sweep }, 0);
  }
  sweeper.start(sweeps);
  return {
    stop: () => stop(sweeper),
    problems: () => [],
    stuck: () =>
      Date.now() - sweeper.lastRun > STUCK_AFTER_MS ? 'dispatcher: no sweep has finished lately' : undefined,
  };
}

/** All sweeps. To be opened before the connection's indexes. @param onActivity called while accounts have live jobs. */
export function openSweeps(
  core: Omit<Core, 'stopped' | 'instance'>,
  services: Services,
  onActivity: () => void,
): { readonly sweeps: readonly Sweep[]; stop(sweeper: Sweeper): Promise<void> } {
  const { role, config, metrics, logger } = core;
  const { tenants, billing } = services;
  const everyMs = config.PLATEN_SWEEP_MS;
  const { noticeCallbacks } = core;
  const callbacks = openCallbackSender(
    { ...core, onAttempt: (...of) => noticeCallbacks.note(...of) },
    wayOutOf(config),
  );
  const uploads = openUploadSender(core, wayOutOf(config));
  if (role === 'dispatcher' && config.PLATEN_PUBLIC_URL === undefined) {
    logger.warn('PLATEN_PUBLIC_URL is not set: callbacks are kept, and sent once it is');
  }
  const mailFolder = role === 'standalone' ? join(config.PLATEN_DATA_DIR, 'mails') : undefined;
  const mails = openMailSender({ ...core, ...tenants, ...billing }, mailFolder);
  const deletion = openDeletion(core, services);
  const sources = openSources(core, wayOutOf(config));
  const alerts = new AlertJudge({
    ...{ ...core, ...tenants, ...core.usage, blockLedger: core.jobs.blockLedger },
    sells: billing.selling !== undefined,
  });
  return {
    sweeps: [
      ...workSweeps(core, core, tenants.templates, onActivity),
      callbacks.sweep,
      uploads.sweep,
      sources.sweep,
      mails.sweep,
      ordinary('alerts', everyMs, () => alerts.sweep(), restPauseMs(everyMs, ALERTS_AT_REST)),
      {
        name: 'takeovers',
        everyMs,
        atRestMs: restPauseMs(everyMs, TAKEOVERS_AT_REST),
        run: () => tenants.takeover.sweep(),
      },
      ordinary('account-deletions', everyMs, () => deletion.sweep(), restPauseMs(everyMs, DELETIONS_AT_REST)),
      ...billingSweeps(billing, config, metrics),
      ...expirySweeps(core, services),
    ],
    async stop(sweeper) {
      await Promise.all([mails.stop(), sweeper.stop()]);
      await Promise.all([callbacks.stop(), uploads.stop(), sources.stop()]);
    },
  };
}

/** Deletes what is past its retention. */
function expirySweeps(core: Omit<Core, 'stopped' | 'instance'>, { tenants }: Services): Sweep[] {
  const { clock, usage, jobs, callbacks, registry } = core;
  const deletions: Readonly<Record<string, (now: Date) => Promise<number>>> = {
    'request-logs': (now) => usage.requestLog.deleteOld(now),
    'request-details': (now) => usage.requestDetails.deleteOld(now),
    'usage-buckets': (now) => usage.counters.deleteOld(now),
    'rate-windows': (now) => tenants.limiter.deleteExpired(now),
    'idempotency-keys': (now) => jobs.idempotency.deleteExpired(now),
    workers: (now) => registry.forgetUnseen(new Date(now.getTime() - FORGET_WORKER_MS)),
    'callback-deliveries': (now) => endCallbacks(callbacks.deliveries, jobs.stored, now),
    uploads: (now) => endCallbacks(callbacks.uploads, jobs.stored, now),
    'old-mails': (now) => tenants.outbox.deleteOld(now),
    'account-records': (now) => tenants.deleteExpired(now),
  };
  return Object.entries(deletions).map(([name, run]) => ({
    name,
    everyMs: SLOW_SWEEP_MS,
    atRestMs: SLOW_AT_REST * SLOW_SWEEP_MS,
    run: () => run(clock.now()),
  }));
}
