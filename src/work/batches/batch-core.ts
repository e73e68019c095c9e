import type { Core } from '../../infra/core.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { BatchStore } from './batch-store.ts';

/** What batches stand on. */
export interface BatchCore
  extends Pick<Core, 'clock' | 'logger'>,
    Pick<Jobs, 'store' | 'ledger' | 'dispatch' | 'quotaExtension' | 'followUp'> {
  readonly batches: BatchStore;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
}
