import type { OperatorEntry } from '../tenants/audit/audit-log.ts';
import type { AccountAdmin } from './accounts.ts';
import type { BillingAdmin } from './billing.ts';
import type { Page, RequestedPage } from './cursor.ts';
import type { JobOperation } from './job-operation.ts';
import type { JobAdmin } from './jobs.ts';
import type { MessageAdmin } from './messages.ts';
import type { ShownQueues } from './queue.ts';
import type { WorkerAdmin } from './workers.ts';

/** The administration of an installation, for those who run it. Nothing that it shows is what accounts have sent. */
export interface Admin {
  readonly accounts: AccountAdmin;
  /** What waits and runs, of the `limit` accounts with the most waiting jobs. */
  readonly queues: (limit: number) => Promise<ShownQueues>;
  readonly workers: WorkerAdmin;
  readonly jobs: JobAdmin;
  readonly operation: JobOperation;
  readonly messages: MessageAdmin;
  readonly billing: BillingAdmin;
  /** What operators did by the administration, the newest first. */
  readonly audit: (page: RequestedPage) => Promise<Page<OperatorEntry>>;
}
