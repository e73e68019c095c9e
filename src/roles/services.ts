import { deletionHindrance } from '../billing/deletion-hindrance.ts';
import { type Billing, openBilling } from '../billing/open-billing.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { ownershipHindrance } from '../tenants/accounts/account-access.ts';
import { AccountDeletion, type DeletionWork } from '../tenants/accounts/account-deletion.ts';
import { openTenants, type Tenants } from '../tenants/open-tenants.ts';
import { deletionSteps } from '../work/deletion-steps.ts';
import { takeoverSteps } from '../work/takeover-steps.ts';
import type { Core } from './core.ts';

/** What the API and the dispatcher share besides the core. */
export interface Services {
  readonly tenants: Tenants;
  readonly billing: Billing;
}

/** What services are opened on. */
export type ServedCore = Pick<
  Core,
  | 'connection'
  | 'clock'
  | 'logger'
  | 'metrics'
  | 'config'
  | 'plans'
  | 'accounts'
  | 'jobs'
  | 'batches'
  | 'callbacks'
  | 'alerts'
  | 'address'
> &
  Partial<Pick<Core, 'stopped'>>;

/** Opens them, once a process. */
export async function openServices(core: ServedCore): Promise<Services> {
  const tenants = openTenants(core, (opened) => takeoverSteps(core, opened));
  const billing = openBilling({
    ...core,
    ...tenants,
    blockLedger: core.jobs.blockLedger,
    publicUrl: () => core.address.publicUrl ?? '',
    // What auto overage has spent of its cap is to be judged.
    onGranted: (accountId) => core.alerts.notice([{ accountId, dueAt: core.clock.now() }]),
  });
  await ensureIndexes(core.connection, core.stopped);
  return { tenants, billing };
}

/** What carries out the deletions of accounts. */
export function openDeletion(
  core: Pick<Core, 'connection' | 'outputs' | 'clock' | 'logger' | 'jobs' | 'batches'>,
  { tenants, billing }: Services,
  steps: readonly DeletionWork[] = deletionSteps(core, core),
): AccountDeletion {
  return new AccountDeletion({
    ...core,
    ...tenants,
    hindrance: async (accountId) =>
      (await ownershipHindrance(tenants.accounts, accountId)) ??
      deletionHindrance(billing, accountId, core.clock),
    steps,
  });
}
