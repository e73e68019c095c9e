import { type Sweep, Sweeper } from '../async/sweeper.ts';
import type { Batches } from '../batches/open-batches.ts';
import { endBatchRetention } from '../batches/retention.ts';
import { openBilling } from '../billing/open-billing.ts';
import { endCallbacks } from '../callbacks/retention.ts';
import { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { measureDemand } from '../jobs/demand.ts';
import { repairNamedJobs } from '../jobs/sweeps/named-jobs.ts';
import { StoredRecount } from '../jobs/sweeps/recount-stored.ts';
import { endRetention } from '../jobs/sweeps/retention.ts';
import { WaitingJobs } from '../jobs/sweeps/waiting-jobs.ts';
import { KeyStore } from '../keys/key-store.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { MailOutbox } from '../mail/outbox.ts';
import { PlanMirror } from '../plans/plan-mirror.ts';
import { ensureIndexes } from '../store/collection-spec.ts';
import { TemplateStore } from '../templates/template-store.ts';
import { RequestLog } from '../usage/request-log.ts';
import { PoolTopics } from '../workers/pool-topics.ts';
import { WorkerRegistry } from '../workers/worker-registry.ts';
import { type AccountServices, createAccountServices } from './account-services.ts';
import { billingSweeps } from './billing.ts';
import { callbackSweep, openSender } from './callbacks.ts';
import type { Component } from './component.ts';
import type { Core } from './core.ts';
import { mailSweep, openMailSender } from './mails.ts';
import { recordDemand } from './record-demand.ts';
import { TopicCare } from './topic-care.ts';

/** Retention is counted in hours; looking once a minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
/** A pool that is given more workers has partitions for them before their pods are ready. */
const TOPICS_EVERY_MS = 5000;
/** A worker that died is no longer seen after seconds; its record may be of use to a person for a while. */
const FORGET_WORKER_MS = 300_000;
/** Time that the mail under way has to be taken when the process stops. */
const MAIL_GRACE_MS = 5_000;
/** No sweep finishing for this long means that they are stuck. */
const STUCK_AFTER_MS = 120_000;

/** The sweeps that make whole what crashes, lost messages and time have left behind. */
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
  const accountServices = createAccountServices(connection, { ...core, keys });
  const billing = openBilling({
    ...core,
    ...core.jobs,
    ...accountServices,
    outbox,
    publicUrl: () => core.address.publicUrl ?? '',
  });
  const sweeps = [
    ...jobSweeps(core, batches),
    callbackSweep(core, sender.sender),
    mailSweep(core, outbox, mails),
    ...billingSweeps(billing, core.config, metrics),
    ...expirySweeps(core, accountServices, outbox),
    ...(core.config.KAFKA_BROKERS === undefined ? [] : [topicSweep(core)]),
  ];
  await ensureIndexes(connection);
  // Counted from zero, or the first failure and the first repair of a sweep would not show as an increase.
  for (const { name: sweep } of sweeps) {
    for (const outcome of ['done', 'failed']) metrics.sweeps.inc({ sweep, outcome }, 0);
    metrics.sweepRepairs.inc({ sweep }, 0);
  }
  sweeper.start(sweeps);
  return {
    async stop() {
      mails?.stop(MAIL_GRACE_MS);
      await sweeper.stop();
      await sender.close();
    },
    problems: () => [],
    stuck: () =>
      Date.now() - sweeper.lastRun > STUCK_AFTER_MS ? 'dispatcher: no sweep has finished lately' : undefined,
  };
}

/** Counts anew what accounts keep: what each part of Platen keeps of them. */
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
  const { jobs, accountPlans, planOf, clock, config, metrics, outputs } = core;
  const { ledger, retries, store, stored } = jobs;
  const parts = {
    ...jobs,
    clock,
    planOf,
    redeliveryMs: config.PLATEN_REDELIVERY_MS,
    retryBaseMs: config.PLATEN_RETRY_BASE_MS,
    random: Math.random,
    onRetried: (code: string) => metrics.retries.inc({ code }),
    keepsArrivalOf: (batchId: string, items: number) => batches.admission.forgetUnless(batchId, items),
  };
  const waiting = new WaitingJobs(parts);
  const recount = storedRecount(core);
  const everyMs = config.PLATEN_SWEEP_MS;
  return [
    { name: 'named-jobs', everyMs, run: async () => repairNamedJobs(parts, await ledger.active()) },
    { name: 'waiting-jobs', everyMs, run: async () => waiting.serve(await ledger.active()) },
    // Coming back is the ordinary way of a retry: there is nothing to put right.
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
    { name: 'batches', everyMs, run: () => batches.care.sweep() },
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

/** Not a repair: a pool that may have more workers is nothing that went wrong. */
function topicSweep({ connection, clock, bus, logger }: Core): Sweep {
  const care = new TopicCare({
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
      await care.run();
      return undefined;
    },
  };
}

/** Deletes what has had its time. */
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
