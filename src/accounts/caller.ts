import type { Plan, PlanName } from '../plans/plan.ts';

/** Who asks, and under which plan. */
export interface Caller {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  readonly mode: 'live' | 'test';
  readonly planName: PlanName;
  readonly plan: Plan;
}
