import { ordinary, restPauseMs, type Sweep } from '../infra/async/sweeper.ts';
import type { Core } from '../infra/core.ts';
import type { AccountPlans } from '../tenants/accounts/account-plans.ts';
import type { NamedPlan } from '../tenants/plans/plan.ts';
import type { TemplateStore } from '../tenants/templates/template-store.ts';
import type { Usage } from '../tenants/usage/open-usage.ts';
import { endBatchRetention } from './batches/retention.ts';
import { AccountLoads } from './jobs/account-loads.ts';
import { measureDemand } from './jobs/demand.ts';
import type { JobMetrics } from './jobs/job-metrics.ts';
import { recordDemand } from './jobs/record-demand.ts';
import { DueLedgersSweep } from './jobs/sweeps/due-ledgers.ts';
import { StoredRecount } from './jobs/sweeps/recount-stored.ts';
import { endRetention } from './jobs/sweeps/retention.ts';
import { WaitingJobs } from './jobs/sweeps/waiting-jobs.ts';
import type { Work } from './open-work.ts';

/** In milliseconds. Retention is counted in hours; a check per minute is exact enough. */
const SLOW_SWEEP_MS = 60_000;
/** How often the sweeps run while nothing happens, as multiples of their pauses: of what another process begins, sooner. */
const AT_REST = 60;
const DEMAND_AT_REST = 5;
const SLOW_AT_REST = 4;

interface SweptCore extends Omit<Core, 'connection'> {
  readonly metrics: JobMetrics;
  readonly accountPlans: AccountPlans;
  readonly usage: Pick<Usage, 'counters'>;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** In milliseconds. */
  readonly config: {
    readonly PLATEN_SWEEP_MS: number;
    readonly PLATEN_LEASE_MS: number;
    readonly PLATEN_REDELIVERY_MS: number;
    readonly PLATEN_RETRY_BASE_MS: number;
  };
}

/**
 * The sweeps that repair, continue and delete jobs and batches.
 *
 * @param onActivity called while accounts have live jobs.
 */
export function workSweeps(
  core: SweptCore,
  { jobs, batches, callbacks }: Work,
  templates: Pick<TemplateStore, 'storedBytes'>,
  onActivity: () => void = () => undefined,
): Sweep[] {
  const { accountPlans: plans, planOf, clock, config, metrics, outputs, tracing } = core;
  const { retries, store, stored } = jobs;
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
  const due = new DueLedgersSweep({ ...deps, due: jobs.dueLedgers, waitingJobs: new WaitingJobs(deps) });
  const loads = new AccountLoads({ ledgers: jobs.ledgerLoads, plans, clock });
  const recount = new StoredRecount({
    stored,
    clock,
    counts: [
      (accountId) => history.storedBytes(accountId),
      (accountId) => live.inputBytes(accountId),
      (accountId) => batches.store.keptBytes(accountId),
      (accountId) => batches.files.storedBytes(accountId),
      (accountId) => templates.storedBytes(accountId),
      (accountId) => callbacks.deliveries.storedBytes(accountId),
      (accountId) => callbacks.uploads.storedBytes(accountId),
    ],
  });
  const everyMs = config.PLATEN_SWEEP_MS;
  const often = { everyMs, atRestMs: restPauseMs(everyMs, AT_REST) };
  const slow = { everyMs: SLOW_SWEEP_MS, atRestMs: SLOW_AT_REST * SLOW_SWEEP_MS };
  const measured = Math.max(everyMs, 1000);
  return [
    { name: 'named-jobs', ...often, run: () => due.run() },
    ordinary('undated-ledgers', slow.everyMs, () => jobs.dueLedgers.dateUndated(), slow.atRestMs),
    ordinary('due-retries', everyMs, () => retries.returnDue(), often.atRestMs),
    ordinary(
      'demand',
      measured,
      async () => {
        const { accounts, planOf: present, changed } = await loads.read();
        if (changed > 0 || accounts.length > 0) onActivity();
        const counted = await live.countRunning(accounts.flatMap(({ holders }) => holders));
        recordDemand(metrics, measureDemand(accounts, present), counted, clock.now());
      },
      restPauseMs(measured, DEMAND_AT_REST),
    ),
    { name: 'batches', ...often, run: () => batches.reconciler.sweep() },
    { name: 'usage', ...slow, run: () => jobs.ledgerUsage.move(core.usage.counters) },
    { name: 'stored-bytes', ...slow, run: () => recount.run() },
    {
      name: 'end-retention',
      ...slow,
      run: () => endRetention({ history, stored }, outputs, clock.now()),
    },
    { name: 'source-files', ...slow, run: () => batches.files.deleteDue() },
    {
      name: 'end-batch-retention',
      ...slow,
      run: () => endBatchRetention({ batches: batches.store, store, stored, outputs }, clock.now()),
    },
  ];
}
