import { JOB_CLASSES, type JobClass } from '../../infra/bus/bus.ts';
import type { Clock } from '../../infra/clock.ts';
import { type NamedPlan, poolOf } from '../../tenants/plans/plan.ts';
import type { SandboxState, WorkerRecord, WorkerRegistry, WorkerState } from '../pools/worker-registry.ts';
import type { AccountLoad, AccountLoads } from './account-loads.ts';
import { admissibleDemand } from './ledger/ledger-record.ts';

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

type Sum = { -readonly [Field in keyof Load]: Load[Field] };

/**
 * The admissible demand (design, section 2) of every pool and plan.
 *
 * @param accounts those with jobs in flight or waiting, read at one moment.
 * @param planOf undefined for an account that does not count.
 */
export function measureDemand(
  accounts: Iterable<AccountLoad>,
  planOf: (load: AccountLoad) => NamedPlan | undefined,
): Demand {
  const byPool = new Map<string, Sum>();
  const byPlan = new Map<string, Sum>();
  const atPositions: Record<JobClass, number> = { interactive: 0, bulk: 0 };
  for (const load of accounts) {
    const named = planOf(load);
    if (named === undefined) continue;
    const demand = admissibleDemand(load, named.plan.concurrentRenders);
    for (const sum of [sumIn(byPool, poolOf(named.plan)), sumIn(byPlan, named.name)]) {
      sum.inFlight += load.inFlight;
      sum.waiting += load.waiting;
      sum.demand += demand;
    }
    for (const jobClass of JOB_CLASSES) atPositions[jobClass] += load.atPositions[jobClass];
  }
  return { byPool, byPlan, atPositions };
}

function sumIn(sums: Map<string, Sum>, name: string): Sum {
  const known = sums.get(name);
  if (known !== undefined) return known;
  const sum = { inFlight: 0, waiting: 0, demand: 0 };
  sums.set(name, sum);
  return sum;
}

/** A worker that has reported recently. */
interface SeenWorker {
  readonly id: string;
  readonly pod?: string;
  readonly slots: number;
  /** Jobs that it held when it last reported. */
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
  /**
   * Jobs that the pool's workers could render at this moment, without jobs in flight on workers that are ending; at least
   * `inFlightOnLive`.
   */
  readonly demand: number;
  /** Jobs in flight on workers that are not ending, as they have reported. */
  readonly inFlightOnLive: number;
  readonly workers: readonly SeenWorker[];
}

export interface DemandSample {
  readonly at: number;
  /** Every pool that has demand or a worker; see `demandOf` for the other pools. */
  readonly byPool: ReadonlyMap<string, PoolDemand>;
  readonly byPlan: ReadonlyMap<string, Load>;
}

interface DemandDeps {
  /** Of one reader, which calls it one at a time. */
  readonly loads: Pick<AccountLoads, 'read'>;
  readonly workers: Pick<WorkerRegistry, 'list' | 'isSeen'>;
  readonly clock: Clock;
}

/**
 * Reads the admissible demand of all pools. A job counts for the pool that its account's plan names, and a job that is
 * held by a worker that is ending calls for no other worker. Which worker holds how many is what the workers report, a
 * second ago at most while they take or end jobs: no job is read.
 *
 * @throws when the database cannot be read: a sample is complete, or there is none.
 */
export async function readPoolDemand(deps: DemandDeps): Promise<DemandSample> {
  const at = deps.clock.now().getTime();
  const { accounts, planOf } = await deps.loads.read();
  const workers = (await deps.workers.list()).filter((worker) => deps.workers.isSeen(worker));
  const { byPlan, byPool: wanted } = measureDemand(accounts, planOf);
  const present = Map.groupBy(workers, ({ pool }) => pool);
  const byPool = new Map(
    [...new Set([...wanted.keys(), ...present.keys()])].map((pool) => [
      pool,
      poolDemand(at, wanted.get(pool)?.demand ?? 0, present.get(pool) ?? []),
    ]),
  );
  return { at, byPool, byPlan };
}

/** The demand of a pool in a sample; a pool that is not in the sample has no demand and no workers. */
export function demandOf({ at, byPool }: DemandSample, pool: string): PoolDemand {
  return byPool.get(pool) ?? { at, demand: 0, inFlightOnLive: 0, workers: [] };
}

/** @param admissible jobs that the accounts of the pool may run, and those that they do run. */
function poolDemand(at: number, admissible: number, workers: readonly WorkerRecord[]): PoolDemand {
  const busy = { ending: 0, staying: 0 };
  for (const worker of workers) busy[worker.state === 'ending' ? 'ending' : 'staying'] += worker.busy;
  return {
    at,
    // Not less than what runs here: the jobs of an account whose plan has just named another pool.
    demand: Math.max(admissible - busy.ending, busy.staying),
    inFlightOnLive: busy.staying,
    workers: workers.map(seenWorker),
  };
}

function seenWorker({ _id, pod, slots, busy, startedAt, state, sandbox }: WorkerRecord): SeenWorker {
  return {
    id: _id,
    ...(pod !== null && { pod }),
    slots,
    busy,
    startedAt: startedAt.getTime(),
    state,
    sandbox,
  };
}
