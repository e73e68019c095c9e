import type { Core } from '../../../infra/core.ts';
import type { NamedPlan } from '../../../tenants/plans/plan.ts';
import type { Jobs } from '../open-jobs.ts';

/** What the sweeps of jobs stand on. */
export interface SweptJobs
  extends Pick<Core, 'clock'>,
    Pick<Jobs, 'ledger' | 'store' | 'dispatch' | 'followUp' | 'retries' | 'times'> {
  /** The present plan of an account. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
}
