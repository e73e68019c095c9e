import { JOB_CLASSES, type JobClass } from '../bus/bus.ts';
import { type NamedPlan, poolOf } from '../plans/plan.ts';
import { LANES } from './lanes.ts';
import { admissibleDemand, type LedgerRecord, laneState } from './ledger/ledger-record.ts';

/** What accounts have in flight and waiting, added up. */
export interface Load {
  readonly inFlight: number;
  readonly waiting: number;
  /** Jobs that may run at the moment: Σ over accounts of in flight + min(waiting, cap − in flight). */
  readonly demand: number;
}

export interface Demand {
  readonly byPool: ReadonlyMap<string, Load>;
  readonly byPlan: ReadonlyMap<string, Load>;
  /** Jobs that wait at a place, by class. */
  readonly atPlaces: Readonly<Record<JobClass, number>>;
}

const NOTHING: Load = { inFlight: 0, waiting: 0, demand: 0 };

/**
 * The admissible demand (design, section 2) of every pool and plan.
 *
 * @param ledgers of the accounts that have something in flight or waiting, taken at one moment.
 * @param plans of these accounts.
 */
export function measureDemand(
  ledgers: readonly LedgerRecord[],
  plans: ReadonlyMap<string, NamedPlan>,
): Demand {
  const byPool = new Map<string, Load>();
  const byPlan = new Map<string, Load>();
  const atPlaces: Record<JobClass, number> = { interactive: 0, bulk: 0 };
  for (const ledger of ledgers) {
    const named = plans.get(ledger._id);
    if (named === undefined) continue;
    const demand = admissibleDemand(ledger, named.plan.concurrentRenders);
    const load = { inFlight: ledger.inFlight, waiting: ledger.waiting, demand };
    add(byPool, poolOf(named.plan), load);
    add(byPlan, named.name, load);
    for (const lane of LANES) {
      const { head, tail } = laneState(ledger, lane);
      const jobClass = JOB_CLASSES.find((name) => lane.startsWith(name));
      if (jobClass !== undefined) atPlaces[jobClass] += Math.max(0, tail - head);
    }
  }
  return { byPool, byPlan, atPlaces };
}

function add(loads: Map<string, Load>, name: string, load: Load): void {
  const sum = loads.get(name) ?? NOTHING;
  loads.set(name, {
    inFlight: sum.inFlight + load.inFlight,
    waiting: sum.waiting + load.waiting,
    demand: sum.demand + load.demand,
  });
}
