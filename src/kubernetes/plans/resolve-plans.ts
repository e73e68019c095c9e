import { keyOf } from '../../infra/kube/client/kube-object.ts';
import { type Plan, planSchema, poolOf } from '../../tenants/plans/plan.ts';
import type { PlanSet, PoolSettings } from '../../tenants/plans/plan-source.ts';
import { type Overrides, overridesSchema, withOverrides } from '../../tenants/plans/plans-file.ts';
import { type HeldNames, isHeld, NOTHING_HELD } from '../held-names.ts';
import { hasReservedName, type Installation } from '../resources/installation.ts';
import type { RenderPlan } from '../resources/kinds.ts';
import { holdersOfNames } from '../resources/names-taken.ts';

/** The outcome for one RenderPlan. */
export interface PlanVerdict {
  readonly state: 'Valid' | 'Invalid' | 'NameTaken' | 'NameReserved';
  /** Why it is not in force: the errors, the object that holds the name, or the namespace that the name is kept for. */
  readonly detail?: string;
  /** The plan in force under its name that comes from this object; undefined without one. */
  readonly inForce?: Plan;
  /** The pool that it names, and the one that runs its jobs. */
  readonly wantedPool?: string;
  readonly pool?: string;
  /** Whether `pool` exists; otherwise the jobs wait until it does. */
  readonly poolFound?: boolean;
  /** The generation that the verdict is about. */
  readonly generation: number | undefined;
}

/** All plans as they are to be mirrored, and what became of each object by its key. */
export interface ResolvedPlans {
  readonly set: PlanSet;
  /** The namespace of each plan that a resource describes, by name. */
  readonly origins: ReadonlyMap<string, string>;
  readonly verdicts: ReadonlyMap<string, PlanVerdict>;
}

/**
 * All RenderPlans over the built-in plans. An invalid one stays as it was last: as in the last verdict, or else as its
 * status says, which outlives the process that wrote it.
 *
 * @param plans those that the installation manages.
 * @param pools pools that have workers, by name.
 * @param before the last verdicts.
 * @param held plans that stay as they are mirrored: their namespaces have not been read yet, or they were deleted with
 * accounts on them.
 */
export function resolvePlans(
  plans: Iterable<RenderPlan>,
  pools: ReadonlyMap<string, PoolSettings>,
  installation: Installation,
  before?: ReadonlyMap<string, PlanVerdict>,
  held: HeldNames['plans'] = NOTHING_HELD.plans,
): ResolvedPlans {
  const all = [...plans];
  const holders = holdersOfNames(all, installation);
  const given = new Map<string, Overrides>();
  const errors = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const [name, plan] of holders) {
    if (isHeld(held.get(name), true)) continue;
    const parsed = overridesSchema.safeParse(plan.spec);
    const overrides = parsed.success
      ? parsed.data
      : (before?.get(keyOf(plan.metadata))?.inForce ?? lastGood(plan));
    if (!parsed.success) {
      const each = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'spec'}: ${message}`);
      errors.set(name, each.join('; '));
    }
    if (overrides === undefined) continue;
    given.set(name, overrides);
    origins.set(name, plan.metadata.namespace ?? '');
  }
  const merged = withOverrides(given);
  const inForce = new Map([...merged].map(([name, plan]) => [name, withPool(plan, pools)] as const));
  for (const [name, { value, namespace }] of held) {
    if (origins.has(name)) continue;
    inForce.set(name, withPool(value, pools));
    origins.set(name, namespace);
  }
  const verdicts = new Map<string, PlanVerdict>();
  for (const plan of all) {
    const { name } = plan.metadata;
    const ofUnread = held.get(name);
    const holder = isHeld(ofUnread, true)
      ? { metadata: { name, namespace: ofUnread.namespace } }
      : holders.get(name);
    const { generation } = plan.metadata;
    let verdict: PlanVerdict;
    if (hasReservedName(plan, installation)) {
      verdict = { state: 'NameReserved', detail: installation.home, generation };
    } else if (holder === plan || holder === undefined) {
      verdict = verdictOf(plan, { given, errors, merged, pools });
    } else {
      verdict = { state: 'NameTaken', detail: keyOf(holder.metadata), generation };
    }
    verdicts.set(keyOf(plan.metadata), verdict);
  }
  return { set: { plans: inForce, pools }, origins, verdicts };
}

function verdictOf(
  plan: RenderPlan,
  found: {
    readonly given: ReadonlyMap<string, Overrides>;
    readonly errors: ReadonlyMap<string, string>;
    readonly merged: ReadonlyMap<string, Plan>;
    readonly pools: ReadonlyMap<string, PoolSettings>;
  },
): PlanVerdict {
  const { name, generation } = plan.metadata;
  const problem = found.errors.get(name);
  const inForce = found.given.has(name) ? found.merged.get(name) : undefined;
  const pool = inForce && poolOf(withPool(inForce, found.pools));
  return {
    state: problem === undefined ? 'Valid' : 'Invalid',
    ...(problem !== undefined && { detail: problem }),
    ...(inForce && { inForce, wantedPool: poolOf(inForce) }),
    ...(pool !== undefined && { pool, poolFound: found.pools.has(pool) }),
    generation,
  };
}

/** The default pool runs the jobs of a plan whose pool does not exist. */
function withPool(plan: Plan, pools: ReadonlyMap<string, PoolSettings>): Plan {
  const { poolRef, ...rest } = plan;
  return poolRef === undefined || pools.has(poolRef) ? plan : rest;
}

/** The fields of the plan that were in force when it was last valid. */
function lastGood({ status }: RenderPlan): Overrides | undefined {
  const parsed = planSchema.safeParse(status?.inForce);
  return parsed.success ? parsed.data : undefined;
}
