import type { Plan, PlanName } from '../plans/plan.ts';
import type { QuotaWindow } from '../plans/quota-period.ts';

/** Stands for the API key when an account requests work from the dashboard, without one. */
export const NO_KEY = {
  apiKeyId: '00000000-0000-0000-0000-000000000000',
  apiKeyPrefix: 'dashboard',
} as const;

/** The authenticated caller of a request, and its plan. */
export interface Caller {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  readonly mode: 'live' | 'test';
  readonly planName: PlanName;
  readonly plan: Plan;
  /** The subscription period whose quota is used; without one, the calendar month. */
  readonly quotaWindow?: QuotaWindow | null | undefined;
  /** Whether headers and bodies of its requests are kept in the log. Default: no. */
  readonly keepsRequestDetails?: boolean;
  /** Of the account when the request was authenticated; absent for 0. */
  readonly ownerFence?: number | undefined;
}
