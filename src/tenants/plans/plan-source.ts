import type { Logger } from '../../infra/telemetry/logger.ts';
import { DEFAULT_PLANS, FREE_PLAN, type Plan, type PlanName } from './plan.ts';

/** The settings of a pool. */
export interface PoolSettings {
  /** Concurrent renders of each of its workers. */
  readonly slotsPerWorker: number;
}

/** All plans and pools at one moment. */
export interface PlanSet {
  /** `free` is always among them. */
  readonly plans: ReadonlyMap<PlanName, Plan>;
  readonly pools: ReadonlyMap<string, PoolSettings>;
}

/**
 * The source of plans. Plans may change at run time: callers keep a plan for one request or one step of a job at most,
 * and a change is in force in every process within two seconds.
 */
export interface PlanSource {
  /** The plan as it is now; for an unknown name, the plan `free`. */
  plan(name: PlanName): Plan;
  /** As `plan`, for the name in an account's record: a name that is unknown may be newer than the plans that are held. */
  resolve(name: PlanName): Promise<Plan>;
  has(name: PlanName): boolean;
  names(): PlanName[];
  /** Undefined for an unknown pool. */
  pool(name: string): PoolSettings | undefined;
  /** Begins to poll for changes; without it the plans stay as they were first read. */
  start(): void;
  stop(): Promise<void>;
}

export const BUILT_IN: PlanSet = { plans: new Map(Object.entries(DEFAULT_PLANS)), pools: new Map() };

/** The error message for an unknown plan; undefined when there is a plan of this name. */
export function unknownPlan(plans: PlanSource, name: PlanName): string | undefined {
  return plans.has(name) ? undefined : `${name} is no plan; ${plans.names().join(', ')} are.`;
}

/** Plans from a set in memory, which a subclass that detects changes replaces. */
export class HeldPlans implements PlanSource {
  readonly #logger: Logger | undefined;
  #held: PlanSet;
  /** Requested names without a plan, each logged once. */
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

  async resolve(name: PlanName): Promise<Plan> {
    if (!this.has(name)) await this.refresh();
    return this.plan(name);
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

  /** Looks for a change at once, where that can be done. Never rejects. */
  protected async refresh(): Promise<void> {}

  /** Replaces all plans and pools. */
  protected replace(set: PlanSet): void {
    this.#held = set;
    for (const name of set.plans.keys()) this.#missing.delete(name);
  }
}
