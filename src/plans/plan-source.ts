import type { Logger } from '../telemetry/logger.ts';
import { DEFAULT_PLANS, FREE_PLAN, type Plan, type PlanName } from './plan.ts';

/** What is said of a pool beside the plans that name it. */
export interface PoolSettings {
  /** Renders at a time in each of its workers. */
  readonly slotsPerWorker: number;
  /** Workers that it may have; absent when that is not known. */
  readonly maxWorkers?: number;
}

/** All plans, and what is said of pools, as they are at one moment. */
export interface PlanSet {
  /** `free` is always among them. */
  readonly plans: ReadonlyMap<PlanName, Plan>;
  readonly pools: ReadonlyMap<string, PoolSettings>;
}

/**
 * Where plans come from. They may change while everything runs: nobody keeps a plan longer than one request or one
 * step of a job, and a change is in force in every process within two seconds.
 */
export interface PlanSource {
  /** The plan as it is now. Of a name that nothing says anything of, the plan `free`. */
  plan(name: PlanName): Plan;
  has(name: PlanName): boolean;
  names(): PlanName[];
  /** Undefined for a pool of which nothing is said. */
  pool(name: string): PoolSettings | undefined;
  /** Begins to look for changes; without it the plans stay as they were read first. */
  start(): void;
  stop(): Promise<void>;
}

export const BUILT_IN: PlanSet = { plans: new Map(Object.entries(DEFAULT_PLANS)), pools: new Map() };

/** What is told of a name that is no plan's; undefined when it is one. */
export function unknownPlan(plans: PlanSource, name: PlanName): string | undefined {
  return plans.has(name) ? undefined : `${name} is no plan; ${plans.names().join(', ')} are.`;
}

/** Answers from the set that it holds; a source that finds out of changes replaces it. */
export class HeldPlans implements PlanSource {
  readonly #logger: Logger | undefined;
  #held: PlanSet;
  /** Names that were asked for and are missing, each told of once. */
  readonly #missing = new Set<PlanName>();

  constructor(set: PlanSet = BUILT_IN, logger?: Logger) {
    this.#held = set;
    this.#logger = logger;
  }

  plan(name: PlanName): Plan {
    const found = this.#held.plans.get(name);
    if (found !== undefined) return found;
    if (!this.#missing.has(name)) {
      this.#missing.add(name);
      this.#logger?.warn(
        { plan: name },
        `there is no such plan; accounts with it have the plan ${FREE_PLAN}`,
      );
    }
    return this.#held.plans.get(FREE_PLAN) ?? DEFAULT_PLANS[FREE_PLAN];
  }

  has(name: PlanName): boolean {
    return this.#held.plans.has(name);
  }

  names(): PlanName[] {
    return [...this.#held.plans.keys()];
  }

  pool(name: string): PoolSettings | undefined {
    return this.#held.pools.get(name);
  }

  start(): void {}

  async stop(): Promise<void> {}

  /** From now on the plans are these. */
  protected replace(set: PlanSet): void {
    this.#held = set;
    for (const name of set.plans.keys()) this.#missing.delete(name);
  }
}
