import { deletionHindrance } from '../billing/deletion-hindrance.ts';
import { openBilling } from '../billing/open-billing.ts';
import { type Sweep, Sweeper } from '../infra/async/sweeper.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { AccountDeletion } from '../tenants/accounts/account-deletion.ts';
import { DeletionStore } from '../tenants/accounts/deletion-store.ts';
import { KeyStore } from '../tenants/keys/key-store.ts';
import { RateLimiter } from '../tenants/limits/rate-limiter.ts';
import { MailOutbox } from '../tenants/mail/outbox.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import { TemplateStore } from '../tenants/templates/template-store.ts';
import { RequestLog } from '../tenants/usage/request-log.ts';
import type { Batches } from '../work/batches/open-batches.ts';
import { endBatchRetention } from '../work/batches/retention.ts';
import { endCallbacks } from '../work/callbacks/retention.ts';
import { measureDemand } from '../work/jobs/demand.ts';
import { IdempotencyStore } from '../work/jobs/idempotency-store.ts';
import { repairNamedJobs } from '../work/jobs/sweeps/interrupted-jobs.ts';
import { StoredRecount } from '../work/jobs/sweeps/recount-stored.ts';
import { endRetention } from '../work/jobs/sweeps/retention.ts';
import { WaitingJobs } from '../work/jobs/sweeps/waiting-jobs.ts';
import { PoolTopics } from '../work/pools/pool-topics.ts';
import { WorkerRegistry } from '../work/pools/worker-registry.ts';
import { type AccountServices, createAccountServices } from './account-services.ts';
import { billingSweeps } from './billing.ts';
import { callbackSweep, openSender } from './callbacks.ts';
import type { Core } from './core.ts';
import { deletionSteps } from './deletion-steps.ts';
import { mailSweep, openMailSender } from './mails.ts';
import type { Component } from './process/component.ts';
import { recordDemand } from './process/record-demand.ts';
import { TopicReconciler } from './process/topic-reconciler.ts';

/** In milliseconds. Retention is counted in hours; a check per minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
/** In milliseconds: a pool that gets more workers has partitions for them before their pods are ready. */
const TOPICS_EVERY_MS = 5000;
/** In milliseconds. A dead worker is no longer seen after seconds; its record may be of use to a person for a while. */
const FORGET_WORKER_MS = 300_000;
/** How long the mail under way may take when the process stops, in milliseconds. */
const MAIL_GRACE_MS = 5_000;
/** If no sweep finishes for this long, the sweeps are stuck; in milliseconds. */
const STUCK_AFTER_MS = 120_000;

/** The sweeps that repair what crashes, lost messages and time have left behind. */
export async function startDispatcher(core: Core, batches: Batches): Promise<Component> {
  const { metrics, logger, connection } = core;
  const sweeper = new Sweeper(logger, (sweep, repaired, failed) => {
    metrics.sweeps.inc({ sweep, outcome: failed ? 'failed' : 'done' });
    if (repaired > 0) metrics.sweepRepairs.inc({ sweep }, repaired);
  });
  const sender = openSender(core);
  const outbox = new MailOutbox(connection, core.clock);
  const mails = openMailSender(core, outbox);
  const keys = new KeyStore(connection, core.clock);
  const accountServices = createAccountServices(connection, { ...core, keys }, core);
  const billing = openBilling({
    ...core,
    ...core.jobs,
    ...accountServices,
    outbox,
    publicUrl: () => core.address.publicUrl ?? '',
  });
  const deletion = new AccountDeletion({
    ...core,
    ...accountServices,
    deletions: new DeletionStore(connection, core.clock),
    hindrance: (accountId) => deletionHindrance(billing, accountId, core.clock),
    steps: deletionSteps(core),
  });
  const sweeps = [
    ...jobSweeps(core, batches),
    callbackSweep(core, sender.sender),
    mailSweep(core, outbox, mails),
    { name: 'takeovers', everyMs: core.config.PLATEN_SWEEP_MS, run: () => accountServices.takeover.sweep() },
    {
      name: 'account-deletions',
      everyMs: core.config.PLATEN_SWEEP_MS,
      // Ordinary work, not a repair.
      async run() {
        await deletion.sweep();
        return undefined;
      },
    },
    ...billingSweeps(billing, core.config, metrics),
    ...expirySweeps(core, accountServices, outbox),
    ...(core.config.KAFKA_BROKERS === undefined ? [] : [topicSweep(core)]),
  ];
  await ensureIndexes(connection, core.stopped);
  // Counted from zero: otherwise the first failure and the first repair of a sweep would not show as an increase.
  for (const { name: sweep } of sweeps) {
    for (const outcome of ['done', 'failed']) metrics.sweeps.inc({ sweep, outcome }, 0);
    metrics.sweepRepairs.inc({ sweep }, 0);
  }
  sweeper.start(sweeps);
  return {
    async stop() {
      await Promise.all([mails?.stop(MAIL_GRACE_MS), sweeper.stop()]);
      await sender.close();
    },
    problems: () => [],
    stuck: () =>
      Date.now() - sweeper.lastRun > STUCK_AFTER_MS ? 'dispatcher: no sweep has finished lately' : undefined,
  };
}

/** Recounts what accounts store, over all parts of Platen. */
function storedRecount({ connection, jobs, batchStore, callbacks, clock }: Core): StoredRecount {
  const { history, live } = jobs.store;
  const templates = new TemplateStore(connection, clock);
  return new StoredRecount({
    stored: jobs.stored,
    clock,
    counts: [
      (accountId) => history.storedBytes(accountId),
      (accountId) => live.inputBytes(accountId),
      (accountId) => batchStore.keptBytes(accountId),
      (accountId) => templates.storedBytes(accountId),
      (accountId) => callbacks.deliveries.storedBytes(accountId),
    ],
  });
}

function jobSweeps(core: Core, batches: Batches): Sweep[] {
  const { jobs, accountPlans, planOf, clock, config, metrics, outputs, tracing } = core;
  const { ledger, retries, store, stored } = jobs;
  const deps = {
    ...jobs,
    clock,
    planOf,
    tracing,
    leaseMs: config.PLATEN_LEASE_MS,
    redeliveryMs: config.PLATEN_REDELIVERY_MS,
    retryBaseMs: config.PLATEN_RETRY_BASE_MS,
    random: Math.random,
    onRetried: (code: string) => metrics.retries.inc({ code }),
    keepsArrivalOf: (batchId: string, items: number) => batches.admission.forgetUnless(batchId, items),
  };
  const waiting = new WaitingJobs(deps);
  const recount = storedRecount(core);
  const everyMs = config.PLATEN_SWEEP_MS;
  return [
    { name: 'named-jobs', everyMs, run: async () => repairNamedJobs(deps, await ledger.active()) },
    { name: 'waiting-jobs', everyMs, run: async () => waiting.serve(await ledger.active()) },
    // Returning retries is ordinary work, not a repair.
    {
      name: 'due-retries',
      everyMs,
      async run() {
        await retries.returnDue();
        return undefined;
      },
    },
    {
      name: 'demand',
      everyMs: Math.max(everyMs, 1000),
      async run() {
        const ledgers = await ledger.active();
        const plans = await accountPlans.plansOf(ledgers.map(({ _id }) => _id));
        const running = ledgers.flatMap(({ holders }) => Object.keys(holders ?? {}));
        const counted = await store.live.countRunning(running);
        recordDemand(metrics, measureDemand(ledgers, plans), counted, clock.now());
        return undefined;
      },
    },
    {
      name: 'expire-waiting',
      everyMs: SLOW_SWEEP_MS,
      run: async () => waiting.expire(await ledger.active()),
    },
    { name: 'batches', everyMs, run: () => batches.reconciler.sweep() },
    { name: 'stored-bytes', everyMs: SLOW_SWEEP_MS, run: () => recount.run() },
    {
      name: 'end-retention',
      everyMs: SLOW_SWEEP_MS,
      run: () => endRetention({ history: store.history, stored }, outputs, clock.now()),
    },
    {
      name: 'end-batch-retention',
      everyMs: SLOW_SWEEP_MS,
      run: () => endBatchRetention({ batches: batches.store, store, stored, outputs }, clock.now()),
    },
  ];
}

/** Not a repair: a pool that may have more workers is no error. */
function topicSweep({ connection, clock, bus, logger }: Core): Sweep {
  const reconciler = new TopicReconciler({
    bus,
    mirror: new PlanMirror(connection),
    registry: new WorkerRegistry(connection, clock),
    topics: new PoolTopics(connection),
    logger,
  });
  return {
    name: 'topics',
    everyMs: TOPICS_EVERY_MS,
    async run() {
      await reconciler.run();
      return undefined;
    },
  };
}

/** Deletes what is past its retention. */
function expirySweeps(core: Core, accountServices: AccountServices, outbox: MailOutbox): Sweep[] {
  const { connection, clock, logger, counters } = core;
  const requestLog = new RequestLog(connection, logger);
  const limiter = new RateLimiter(connection, clock);
  const idempotency = new IdempotencyStore(connection, clock);
  const workers = new WorkerRegistry(connection, clock);
  const deletions: Readonly<Record<string, (now: Date) => Promise<number>>> = {
    'request-logs': (now) => requestLog.deleteOld(now),
    'usage-buckets': (now) => counters.deleteOld(now),
    'rate-windows': (now) => limiter.deleteOld(now),
    'idempotency-keys': (now) => idempotency.deleteExpired(now),
    workers: (now) => workers.forgetUnseen(new Date(now.getTime() - FORGET_WORKER_MS)),
    'callback-deliveries': (now) => endCallbacks(core.callbacks.deliveries, core.jobs.stored, now),
    'old-mails': (now) => outbox.deleteOld(now),
    'account-records': (now) => accountServices.deleteExpired(now),
  };
  return Object.entries(deletions).map(([name, run]) => ({
    name,
    everyMs: SLOW_SWEEP_MS,
    run: () => run(clock.now()),
  }));
}
