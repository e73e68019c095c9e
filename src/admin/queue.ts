import { JOB_CLASSES, type JobClass } from '../infra/bus/bus.ts';
import { poolOf } from '../tenants/plans/plan.ts';
import { type LedgerRecord, queueState, waitingIn } from '../work/jobs/ledger/ledger-record.ts';
import { firstPositions, PRIORITY_QUEUES } from '../work/jobs/priority-queues.ts';
import type { Whereabouts } from '../work/jobs/store/live-jobs.ts';
import type { AdminCore } from './admin-core.ts';

/**
 * Why jobs of an account wait: it is suspended; it holds as many plan slots as its plan allows; no worker of the pool
 * has taken what was dispatched; or their next attempt is not due yet.
 */
type WaitReason = 'account_suspended' | 'plan_concurrency' | 'no_worker_slot' | 'retry_not_due';

/** What waits and runs at this moment, by pool and class, and of the `limit` accounts with the most waiting jobs. */
export async function readQueues(core: AdminCore, limit: number) {
  const { ledger, store, accountPlans, accounts, registry, clock } = core;
  const active = await ledger.active();
  const [plans, jobs, workers] = await Promise.all([
    accountPlans.plansOf(active.map(({ _id }) => _id)),
    store.live.whereabouts(active.flatMap(({ holders = {} }) => Object.keys(holders))),
    registry.list(),
  ]);
  const pools = new Map<string, PoolCount>();
  const pool = (name: string) => pooled(pools, name);
  for (const record of active) pool(poolOf(plans.get(record._id)!.plan)).waiting += waitingIn(record);
  for (const job of jobs.values()) pool(job.pool).add(job);
  for (const worker of workers) if (registry.isSeen(worker)) pool(worker.pool).addWorker(worker);
  const shown = [...active].sort((a, b) => b.waiting - a.waiting || b.inFlight - a.inFlight).slice(0, limit);
  const known = await accounts.some(shown.map(({ _id }) => _id));
  return {
    at: clock.now().toISOString(),
    pools: [...pools].sort().map(([name, count]) => count.shown(name)),
    /** Accounts with live jobs; those with the most waiting ones first. */
    accounts: await Promise.all(
      shown.map(async (record) => {
        const account = known.get(record._id);
        const { name, plan } = plans.get(record._id)!;
        return {
          accountId: record._id,
          email: account?.email ?? null,
          plan: name,
          pool: poolOf(plan),
          ...(await queueOf(store, record, jobs, {
            concurrentRenders: plan.concurrentRenders,
            suspended: account?.suspendedAt !== undefined,
          })),
        };
      }),
    ),
    /** Accounts with live jobs, including those that are not shown. */
    totalAccounts: active.length,
  };
}

export type ShownQueues = Awaited<ReturnType<typeof readQueues>>;

async function queueOf(
  { live, retries }: AdminCore['store'],
  record: LedgerRecord,
  jobs: ReadonlyMap<string, Whereabouts>,
  { concurrentRenders, suspended }: { readonly concurrentRenders: number; readonly suspended: boolean },
) {
  const { _id: accountId, inFlight } = record;
  const waiting = { interactive: 0, bulk: 0 };
  for (const queue of PRIORITY_QUEUES) {
    const { head, tail } = queueState(record, queue);
    waiting[JOB_CLASSES.find((name) => queue.startsWith(name))!] += Math.max(0, tail - head);
  }
  const atPositions = waiting.interactive + waiting.bulk;
  const retrying = record.waiting > atPositions ? await retries.countOf(accountId) : 0;
  const nextRetry = retrying > 0 ? await retries.nextOf(accountId) : undefined;
  const heads = PRIORITY_QUEUES.flatMap((queue) =>
    firstPositions(accountId, queue, queueState(record, queue), 1),
  );
  const first = heads.length === 0 ? [] : await live.atPositions(heads);
  const times = first.map(({ createdAt }) => createdAt.getTime());
  const dispatched = Object.keys(record.holders ?? {}).filter(
    (id) => jobs.get(id)?.state === 'dispatched',
  ).length;
  const reasons: WaitReason[] = [];
  if (suspended) reasons.push('account_suspended');
  else if (atPositions > 0 && inFlight >= concurrentRenders) reasons.push('plan_concurrency');
  if (dispatched > 0) reasons.push('no_worker_slot');
  if (retrying > 0) reasons.push('retry_not_due');
  return {
    /** Plan slots in use, and as many as the plan allows. */
    inFlight,
    concurrentRenders,
    /** Jobs that wait for a plan slot, by class. */
    waiting,
    /** Jobs that wait for the time of their next attempt, and when the first is due. */
    retries: retrying,
    nextRetryAt: nextRetry?.toISOString() ?? null,
    dispatched,
    /** When the oldest job at the head of a queue was accepted. */
    oldestWaitingAt: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
    reasons,
  };
}

function pooled(pools: Map<string, PoolCount>, name: string): PoolCount {
  const known = pools.get(name) ?? new PoolCount();
  pools.set(name, known);
  return known;
}

/** Sums up the jobs and workers of one pool. */
class PoolCount {
  waiting = 0;
  readonly #dispatched: Record<JobClass, number> = { interactive: 0, bulk: 0 };
  readonly #running: Record<JobClass, number> = { interactive: 0, bulk: 0 };
  #oldest: Date | undefined;
  #workers = 0;
  #slots = 0;
  #busy = 0;

  add({ state, class: jobClass, dispatchedAt }: Whereabouts): void {
    if (state === 'processing') this.#running[jobClass] += 1;
    if (state !== 'dispatched') return;
    this.#dispatched[jobClass] += 1;
    if (dispatchedAt !== null && (this.#oldest === undefined || dispatchedAt < this.#oldest))
      this.#oldest = dispatchedAt;
  }

  addWorker({ slots, busy }: { readonly slots: number; readonly busy: number }): void {
    this.#workers += 1;
    this.#slots += slots;
    this.#busy += busy;
  }

  shown(pool: string) {
    return {
      pool,
      /** Jobs that wait for a plan slot, or for their next attempt. */
      waiting: this.waiting,
      /** Jobs with a plan slot that no worker has taken, by class. */
      dispatched: this.#dispatched,
      /** Jobs that a worker renders, by class. */
      running: this.#running,
      oldestDispatchedAt: this.#oldest?.toISOString() ?? null,
      /** Workers that have reported lately, their slots and the jobs that they hold. */
      workers: this.#workers,
      slots: this.#slots,
      busy: this.#busy,
    };
  }
}
