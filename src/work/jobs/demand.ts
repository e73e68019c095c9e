import { JOB_CLASSES, type JobClass } from '../../infra/bus/bus.ts';
import type { Clock } from '../../infra/clock.ts';
import { type NamedPlan, poolOf } from '../../tenants/plans/plan.ts';
import type { PoolTopics } from '../pools/pool-topics.ts';
import type { SandboxState, WorkerRecord, WorkerRegistry, WorkerState } from '../pools/worker-registry.ts';
import type { Ledger } from './ledger/ledger.ts';
import { admissibleDemand, type LedgerRecord, queueState } from './ledger/ledger-record.ts';
import { PRIORITY_QUEUES } from './priority-queues.ts';
import type { LiveJobs, Whereabouts } from './store/live-jobs.ts';

/** The jobs in flight and waiting, summed over accounts. */
export interface Load {
  readonly inFlight: number;
  readonly waiting: number;
  /** Jobs that may run at the moment: the sum over accounts of in flight + min(waiting, cap − in flight). */
  readonly demand: number;
}

export interface Demand {
  readonly byPool: ReadonlyMap<string, Load>;
  readonly byPlan: ReadonlyMap<string, Load>;
  /** Jobs that wait at a position, by class. */
  readonly atPositions: Readonly<Record<JobClass, number>>;
}

const NOTHING: Load = { inFlight: 0, waiting: 0, demand: 0 };

/**
 * The admissible demand (design, section 2) of every pool and plan.
 *
 * @param ledgers the ledgers of accounts with jobs in flight or waiting, read at one moment.
 * @param plans the plans of these accounts.
 */
export function measureDemand(
  ledgers: readonly LedgerRecord[],
  plans: ReadonlyMap<string, NamedPlan>,
): Demand {
  const byPool = new Map<string, Load>();
  const byPlan = new Map<string, Load>();
  const atPositions: Record<JobClass, number> = { interactive: 0, bulk: 0 };
  for (const ledger of ledgers) {
    const named = plans.get(ledger._id);
    if (named === undefined) continue;
    const demand = admissibleDemand(ledger, named.plan.concurrentRenders);
    const load = { inFlight: ledger.inFlight, waiting: ledger.waiting, demand };
    add(byPool, poolOf(named.plan), load);
    add(byPlan, named.name, load);
    for (const queue of PRIORITY_QUEUES) {
      const { head, tail } = queueState(ledger, queue);
      const jobClass = JOB_CLASSES.find((name) => queue.startsWith(name));
      if (jobClass !== undefined) atPositions[jobClass] += Math.max(0, tail - head);
    }
  }
  return { byPool, byPlan, atPositions };
}

function add(loads: Map<string, Load>, name: string, load: Load): void {
  const sum = loads.get(name) ?? NOTHING;
  loads.set(name, {
    inFlight: sum.inFlight + load.inFlight,
    waiting: sum.waiting + load.waiting,
    demand: sum.demand + load.demand,
  });
}

/** A worker that has reported recently. */
interface SeenWorker {
  readonly id: string;
  /** Absent outside Kubernetes. */
  readonly pod?: string;
  readonly slots: number;
  /** Jobs that it holds at the moment. */
  readonly busy: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly state: WorkerState;
  /** The result of the worker's own check of a renderer. */
  readonly sandbox: SandboxState;
}

/** The demand and the workers of a pool, as input for its sizing. */
export interface PoolDemand {
  /** When the sample was begun, in epoch milliseconds. */
  readonly at: number;
  /** Jobs that the pool's workers could render at this moment, without jobs in flight on workers that are ending. */
  readonly demand: number;
  /** Jobs in flight on workers that are not ending. */
  readonly inFlightOnLive: number;
  readonly workers: readonly SeenWorker[];
  /** Partitions of the pool's topics; undefined before the first check. */
  readonly partitions?: number | undefined;
}

export interface DemandSample {
  readonly at: number;
  /** Every pool that has demand or a worker; see `demandOf` for the other pools. */
  readonly byPool: ReadonlyMap<string, PoolDemand>;
  readonly byPlan: ReadonlyMap<string, Load>;
  /** Partitions of the topics of each checked pool. */
  readonly partitions?: ReadonlyMap<string, number>;
}

interface DemandDeps {
  readonly ledger: Pick<Ledger, 'active'>;
  readonly live: Pick<LiveJobs, 'whereabouts'>;
  readonly workers: Pick<WorkerRegistry, 'list' | 'isSeen'>;
  readonly topics?: Pick<PoolTopics, 'partitions'>;
  /** The plans of many accounts. */
  readonly plansOf: (accountIds: readonly string[]) => Promise<ReadonlyMap<string, NamedPlan>>;
  readonly clock: Clock;
}

/**
 * Reads the admissible demand of all pools. Jobs count as in flight on live workers only: a job that is held by a
 * worker that is ending, or no longer seen, does not call for a new worker.
 *
 * @throws when the database cannot be read: a sample is complete, or there is none.
 */
export async function readPoolDemand(deps: DemandDeps): Promise<DemandSample> {
  const at = deps.clock.now().getTime();
  const ledgers = await deps.ledger.active();
  const holders = ledgers.flatMap((ledger) => Object.keys(ledger.holders ?? {}));
  const [plans, jobs] = await Promise.all([
    deps.plansOf(ledgers.map(({ _id }) => _id)),
    deps.live.whereabouts(holders),
  ]);
  // After the jobs, because a worker is in the registry before it claims its first job.
  const workers = (await deps.workers.list()).filter((worker) => deps.workers.isSeen(worker));
  const partitions = await deps.topics?.partitions();
  const count = new DemandCount(workers);
  for (const ledger of ledgers) {
    const named = plans.get(ledger._id);
    if (named !== undefined) count.add(ledger, named, jobs);
  }
  const { byPlan } = measureDemand(ledgers, plans);
  return { at, byPool: count.byPool(at), byPlan, ...(partitions && { partitions }) };
}

/** The demand of a pool in a sample; a pool that is not in the sample has no demand and no workers. */
export function demandOf({ at, byPool, partitions }: DemandSample, pool: string): PoolDemand {
  const read = byPool.get(pool) ?? { at, demand: 0, inFlightOnLive: 0, workers: [] };
  return partitions === undefined ? read : { ...read, partitions: partitions.get(pool) };
}

/** Sums up one sample. */
class DemandCount {
  readonly #workers: readonly WorkerRecord[];
  readonly #staying: ReadonlySet<string>;
  /** Jobs by the worker that holds them. */
  readonly #held = new Map<string, number>();
  readonly #pools = new Map<string, { demand: number; inFlightOnLive: number }>();

  constructor(workers: readonly WorkerRecord[]) {
    this.#workers = workers;
    this.#staying = new Set(workers.filter(({ state }) => state !== 'ending').map(({ _id }) => _id));
    for (const { pool } of workers) this.#pool(pool);
  }

  add(ledger: LedgerRecord, { plan }: NamedPlan, jobs: ReadonlyMap<string, Whereabouts>): void {
    const pool = poolOf(plan);
    for (const jobId of Object.keys(ledger.holders ?? {})) this.#addHolder(jobs.get(jobId), pool);
    // A waiting job goes to the pool that the plan names when the job gets its slot. All slots in use limit it.
    const fitting = admissibleDemand(ledger, plan.concurrentRenders) - ledger.inFlight;
    if (fitting > 0) this.#pool(pool).demand += fitting;
  }

  byPool(at: number): ReadonlyMap<string, PoolDemand> {
    return new Map(
      [...this.#pools].map(([name, sums]) => {
        const workers = this.#workers.filter(({ pool }) => pool === name).map((worker) => this.#seen(worker));
        return [name, { at, ...sums, workers }];
      }),
    );
  }

  /** @param job undefined when the job has a slot and has not been written yet. */
  #addHolder(job: Whereabouts | undefined, planPool: string): void {
    switch (job?.state) {
      case 'processing': {
        const owner = job.owner ?? '';
        this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
        if (!this.#staying.has(owner)) return;
        const sums = this.#pool(job.pool);
        sums.demand += 1;
        sums.inFlightOnLive += 1;
        return;
      }
      case 'dispatched':
        this.#pool(job.pool).demand += 1;
        return;
      case undefined:
      case 'queued':
        this.#pool(planPool).demand += 1;
        return;
      default:
      // The job has ended, and its slot is about to be freed.
    }
  }

  #seen({ _id, pod, slots, busy, startedAt, state, sandbox }: WorkerRecord): SeenWorker {
    return {
      id: _id,
      ...(pod !== null && { pod }),
      slots,
      // Jobs that the worker has claimed since its last report count as well.
      busy: Math.max(busy, this.#held.get(_id) ?? 0),
      startedAt: startedAt.getTime(),
      state,
      sandbox,
    };
  }

  #pool(name: string): { demand: number; inFlightOnLive: number } {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const sums = { demand: 0, inFlightOnLive: 0 };
    this.#pools.set(name, sums);
    return sums;
  }
}
