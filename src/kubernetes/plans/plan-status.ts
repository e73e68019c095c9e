import { conditionsOf, type Finding } from '../resources/condition-list.ts';
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

/**
 * The status to write for a plan.
 *
 * @param use without the fields that are not known: these keep their previous values.
 */
export function planStatus(
  plan: RenderPlan,
  verdict: PlanVerdict,
  use: Partial<PlanUse>,
  now: Date,
): PlanStatus {
  const { status = {} } = plan;
  const findings: Finding<typeof PLAN_CONDITIONS>[] = [accepted(verdict)];
  if (verdict.inForce !== undefined) findings.push(poolResolved(verdict));
  const counts = verdict.state === 'NameTaken' ? {} : { ...countsOf(status), ...use };
  return {
    ...(verdict.generation !== undefined && { observedGeneration: verdict.generation }),
    conditions: conditionsOf(PLAN_CONDITIONS, status.conditions, findings, verdict.generation, now),
    ...(verdict.inForce !== undefined && { inForce: verdict.inForce, pool: verdict.pool }),
    ...counts,
  };
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
    NameTaken: `${detail} is older and has the name.`,
  }[state];
  return { type: 'Accepted', reason: state, message };
}

function poolResolved({ wantedPool, pool, poolFound }: PlanVerdict): Finding<typeof PLAN_CONDITIONS> {
  const type = 'PoolResolved';
  if (wantedPool === pool && poolFound) {
    return { type, reason: 'PoolFound', message: `The pool ${pool} runs its jobs.` };
  }
  const missing = `There is no RenderPool ${wantedPool}`;
  const message = poolFound
    ? `${missing}; the pool ${pool} runs its jobs meanwhile.`
    : `${missing}${wantedPool === pool ? '' : `, and none named ${pool}`}: its jobs wait until there is.`;
  return { type, reason: 'PoolNotFound', message };
}
