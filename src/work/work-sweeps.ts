import { ordinary, type Sweep } from '../infra/async/sweeper.ts';
import type { Core } from '../infra/core.ts';
import type { AccountPlans } from '../tenants/accounts/account-plans.ts';
import type { NamedPlan } from '../tenants/plans/plan.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import type { TemplateStore } from '../tenants/templates/template-store.ts';
import { endBatchRetention } from './batches/retention.ts';
import { measureDemand } from './jobs/demand.ts';
import type { JobMetrics } from './jobs/job-metrics.ts';
import { recordDemand } from './jobs/record-demand.ts';
import { repairInterruptedJobs } from './jobs/sweeps/interrupted-jobs.ts';
import { StoredRecount } from './jobs/sweeps/recount-stored.ts';
import { endRetention } from './jobs/sweeps/retention.ts';
import { WaitingJobs } from './jobs/sweeps/waiting-jobs.ts';
import type { Work } from './open-work.ts';
import { PoolTopics } from './pools/pool-topics.ts';
import { TopicReconciler } from './pools/topic-reconciler.ts';

/** In milliseconds. Retention is counted in hours; a check per minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
/** In milliseconds: a pool that gets more workers has partitions for them before their pods are ready. */
const TOPICS_EVERY_MS = 5000;

interface SweptCore extends Omit<Core, 'connection'> {
  readonly metrics: JobMetrics;
  readonly accountPlans: AccountPlans;
  /** The present plan of an account. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** In milliseconds. */
  readonly config: {
    readonly PLATEN_SWEEP_MS: number;
    readonly PLATEN_LEASE_MS: number;
    readonly PLATEN_REDELIVERY_MS: number;
    readonly PLATEN_RETRY_BASE_MS: number;
  };
}

/** The sweeps that repair, continue and delete jobs and batches. */
export function workSweeps(
  core: SweptCore,
  { jobs, batches, callbacks }: Work,
  templates: Pick<TemplateStore, 'storedBytes'>,
): Sweep[] {
  const { accountPlans, planOf, clock, config, metrics, outputs, tracing } = core;
  const { ledger, retries, store, stored } = jobs;
  const { history, live } = store;
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
  const recount = new StoredRecount({
    stored,
    clock,
    counts: [
      (accountId) => history.storedBytes(accountId),
      (accountId) => live.inputBytes(accountId),
      (accountId) => batches.store.keptBytes(accountId),
      (accountId) => templates.storedBytes(accountId),
      (accountId) => callbacks.deliveries.storedBytes(accountId),
      (accountId) => callbacks.uploads.storedBytes(accountId),
    ],
  });
  const everyMs = config.PLATEN_SWEEP_MS;
  return [
    { name: 'named-jobs', everyMs, run: async () => repairInterruptedJobs(deps, await ledger.active()) },
    { name: 'waiting-jobs', everyMs, run: async () => waiting.serve(await ledger.active()) },
    ordinary('due-retries', everyMs, () => retries.returnDue()),
    ordinary('demand', Math.max(everyMs, 1000), async () => {
      const ledgers = await ledger.active();
      const plans = await accountPlans.plansOf(ledgers.map(({ _id }) => _id));
      const running = ledgers.flatMap(({ holders }) => Object.keys(holders ?? {}));
      const counted = await live.countRunning(running);
      recordDemand(metrics, measureDemand(ledgers, plans), counted, clock.now());
    }),
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
      run: () => endRetention({ history, stored }, outputs, clock.now()),
    },
    {
      name: 'end-batch-retention',
      everyMs: SLOW_SWEEP_MS,
      run: () => endBatchRetention({ batches: batches.store, store, stored, outputs }, clock.now()),
    },
  ];
}

/** To be made before the connection's indexes. Not a repair: a pool that may have more workers is no error. */
export function topicSweep(
  { connection, bus, logger }: Pick<Core, 'connection' | 'bus' | 'logger'>,
  { registry }: Pick<Work, 'registry'>,
): Sweep {
  const mirror = new PlanMirror(connection);
  const topics = new PoolTopics(connection);
  const reconciler = new TopicReconciler({ bus, mirror, registry, topics, logger });
  return ordinary('topics', TOPICS_EVERY_MS, () => reconciler.run());
}
