import type { Billing } from '../billing/open-billing.ts';
import type { Tenants } from '../tenants/open-tenants.ts';
import type { Usage } from '../tenants/usage/open-usage.ts';
import type { Work } from '../work/open-work.ts';
import { AccountAdmin } from './accounts.ts';
import type { AdminCore } from './admin-core.ts';
import { BillingAdmin } from './billing.ts';
import { type RequestedPage, readPage } from './cursor.ts';
import { JobOperation } from './job-operation.ts';
import { JobAdmin } from './jobs.ts';
import { MessageAdmin } from './messages.ts';
import { readQueues } from './queue.ts';
import { WorkerAdmin } from './workers.ts';

/** What the process has opened before. */
interface Process
  extends Pick<AdminCore, 'clock' | 'accountPlans' | 'plans'>,
    Pick<Work, 'jobs' | 'callbacks' | 'registry'> {
  readonly usage: Usage;
}

/** Opens the administration of a process that serves the API. */
export function openAdmin(
  process: Process,
  api: Pick<AdminCore, 'renders' | 'admission'>,
  { tenants, billing }: { readonly tenants: Tenants; readonly billing: Billing },
) {
  const { usage, callbacks } = process;
  const core: AdminCore = {
    ...process,
    ...process.jobs,
    ...usage,
    ...callbacks,
    ...tenants,
    ...api,
    billing,
  };
  const jobs = new JobAdmin(core);
  return {
    jobs,
    accounts: new AccountAdmin(core),
    /** What waits and runs, of the `limit` accounts with the most waiting jobs. */
    queues: (limit: number) => readQueues(core, limit),
    workers: new WorkerAdmin(core),
    operation: new JobOperation(core, jobs),
    messages: new MessageAdmin(core),
    billing: new BillingAdmin(core),
    /** What operators did by the administration, the newest first. */
    audit: (page: RequestedPage) =>
      readPage(
        page,
        (at) => core.audit.operatorEntries(at),
        ({ at }) => at,
      ),
  };
}

/** The administration of an installation, for those who run it. Nothing that it shows is what accounts have sent. */
export type Admin = ReturnType<typeof openAdmin>;
