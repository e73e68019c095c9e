import { conditionsOf, type Finding, readyFinding } from '../resources/condition-list.ts';
import type { RenderPlan } from '../resources/kinds.ts';
import { PLAN_CONDITIONS } from '../resources/reasons.ts';
import type { PlanVerdict } from './resolve-plans.ts';

/** The accounts and jobs of a plan at one moment. */
export interface PlanUse {
  readonly accounts: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly demand: number;
}

export const COUNTED: readonly (keyof PlanUse)[] = ['accounts', 'inFlight', 'waiting', 'demand'];

type PlanStatus = NonNullable<RenderPlan['status']>;

/** @param use without the fields that are not known: these keep their previous values. */
export function planStatus(
  plan: RenderPlan,
  verdict: PlanVerdict,
  use: Partial<PlanUse>,
  now: Date,
): PlanStatus {
  const { status = {} } = plan;
  const found: Finding<typeof PLAN_CONDITIONS>[] = [accepted(verdict)];
  if (verdict.inForce !== undefined) found.push(poolResolved(verdict));
  const findings = [readyFinding(PLAN_CONDITIONS, found), ...found];
  const counts = isNameless(verdict) ? {} : { ...countsOf(status), ...use };
  return {
    ...(status.managedBy !== undefined && { managedBy: status.managedBy }),
    ...(verdict.generation !== undefined && { observedGeneration: verdict.generation }),
    conditions: conditionsOf(PLAN_CONDITIONS, status.conditions, findings, verdict.generation, now),
    ...(verdict.inForce !== undefined && { inForce: verdict.inForce, pool: verdict.pool }),
    ...counts,
  };
}

/** Whether the object has not the name that it would have. */
export function isNameless({ state }: PlanVerdict): boolean {
  return state === 'NameTaken' || state === 'NameReserved';
}

function countsOf(status: PlanStatus): Partial<PlanUse> {
  return Object.fromEntries(
    COUNTED.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])),
  );
}

function accepted({ state, detail, inForce }: PlanVerdict): Finding<typeof PLAN_CONDITIONS> {
  const message = {
    Valid: '',
    Invalid: `${detail}. ${inForce === undefined ? 'Nothing of it is in force.' : 'What was in force before stays so.'}`,
    NameTaken: `The RenderPlan ${detail} is older and has the name.`,
    NameReserved: `The name is that of a built-in plan, which only a RenderPlan in the namespace ${detail} may change. Give this one another name.`,
  }[state];
  return { type: 'Accepted', reason: state, message };
}

function poolResolved({ wantedPool, pool, poolFound }: PlanVerdict): Finding<typeof PLAN_CONDITIONS> {
  const type = 'PoolResolved';
  if (wantedPool === pool && poolFound) {
    return { type, reason: 'PoolFound', message: `The pool ${pool} runs the jobs of the plan.` };
  }
  const missing = `There is no RenderPool ${wantedPool}`;
  const message = poolFound
    ? `${missing}; the pool ${pool} runs the jobs of the plan meanwhile.`
    : `${missing}${wantedPool === pool ? '' : `, and none named ${pool}`}: the jobs of the plan wait until there is.`;
  return { type, reason: 'PoolNotFound', message };
}
