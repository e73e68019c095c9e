import type { Plan, PlanName } from '../plans/plan.ts';
import type { QuotaWindow } from '../usage/quota-period.ts';

/** Who asks, and under which plan. */
export interface Caller {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  readonly mode: 'live' | 'test';
  readonly planName: PlanName;
  readonly plan: Plan;
  /** The period of its subscription whose quota is used; without one the calendar month is. */
  readonly quotaWindow?: QuotaWindow | null | undefined;
}
