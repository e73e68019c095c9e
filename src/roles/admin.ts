import { AccountAdmin } from '../admin/accounts.ts';
import type { Admin } from '../admin/admin.ts';
import { BillingAdmin } from '../admin/billing.ts';
import { readPage } from '../admin/cursor.ts';
import { JobOperation } from '../admin/job-operation.ts';
import { JobAdmin } from '../admin/jobs.ts';
import { MessageAdmin } from '../admin/messages.ts';
import { readQueues } from '../admin/queue.ts';
import { WorkerAdmin } from '../admin/workers.ts';
import { deletionHindrance } from '../billing/deletion-hindrance.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { DeletionStore } from '../tenants/accounts/deletion-store.ts';
import { MailOutbox } from '../tenants/mail/outbox.ts';
import { WorkerRegistry } from '../work/pools/worker-registry.ts';
import type { AccountServices } from './account-services.ts';
import type { Core } from './core.ts';

type AdminCore = Pick<
  Core,
  'connection' | 'clock' | 'accounts' | 'accountPlans' | 'counters' | 'plans' | 'jobs'
>;
/** The parts of an API that the administration uses. */
export type AdminApi = Pick<ApiDeps, 'renders' | 'admission' | 'billing' | 'deliveries'>;

/** Opens the administration on the parts of an API. */
export async function openAdmin(
  core: AdminCore,
  api: AdminApi,
  { accountService, audit }: Pick<AccountServices, 'accountService' | 'audit'>,
): Promise<Admin> {
  const { connection, clock, accounts, accountPlans, counters, plans, jobs } = core;
  const { ledger, store } = jobs;
  const registry = new WorkerRegistry(connection, clock);
  const outbox = new MailOutbox(connection, clock);
  const deletions = new DeletionStore(connection, clock);
  const hindrance = (accountId: string) => deletionHindrance(api.billing, accountId, clock);
  await ensureIndexes(connection);
  const jobAdmin = new JobAdmin({ ...api, store, accounts, plans, audit, clock });
  return {
    accounts: new AccountAdmin({
      ...{ accounts, accountService, counters, ledger, clock },
      ...{ deletions, hindrance },
    }),
    queues: (limit) => readQueues({ ledger, store, accountPlans, accounts, registry, clock }, limit),
    workers: new WorkerAdmin({ registry, ledger, live: store.live, audit }),
    jobs: jobAdmin,
    operation: new JobOperation({ jobs: jobAdmin, audit, clock }),
    messages: new MessageAdmin({ deliveries: api.deliveries, outbox, audit, clock }),
    billing: new BillingAdmin({ billing: api.billing, audit }),
    audit: (page) =>
      readPage(
        page,
        (at) => audit.operatorEntries(at),
        ({ at }) => at,
      ),
  };
}
