import { pino } from 'pino';
import { deletionHindrance } from '../../../../src/billing/deletion-hindrance.ts';
import { deletionSteps } from '../../../../src/roles/deletion-steps.ts';
import { AccountDeletion, type DeletionWork } from '../../../../src/tenants/accounts/account-deletion.ts';
import { DeletionStore } from '../../../../src/tenants/accounts/deletion-store.ts';
import { eventually } from '../../../support/eventually.ts';
import type { TestApi } from '../../http/support/api.ts';

/** After this time a deletion may be finished, in milliseconds. */
export const QUIET_MS = 60_000;

/** The sweep of deletions of one process, which has others of the steps if a test says so. */
export function openDeletion(
  api: TestApi,
  change: (steps: readonly DeletionWork[]) => readonly DeletionWork[] = (steps) => steps,
): AccountDeletion {
  const { domain, accounts, accountServices, outputs, billing } = api;
  const { connection, clock, batches } = domain;
  return new AccountDeletion({
    accounts,
    deletions: new DeletionStore(connection, clock),
    hindrance: (accountId) => deletionHindrance(billing, accountId, clock),
    steps: change(deletionSteps({ connection, outputs, jobs: domain, batchStore: batches.store })),
    audit: accountServices.audit,
    clock,
    logger: pino({ level: 'silent' }),
  });
}

/** Sweeps until the account is gone; the clock passes the time that a deletion waits. */
export async function finishDeletion(
  api: TestApi,
  accountId: string,
  deletion = openDeletion(api),
): Promise<void> {
  const { domain, accounts } = api;
  await eventually('its records are deleted, and nothing but the wait is left', async () => {
    await domain.batches.reconciler.sweep();
    await domain.flush();
    await deletion.sweep();
    const noted = await new DeletionStore(domain.connection, domain.clock).find(accountId);
    const since = (await accounts.findNow(accountId))?.deletingSince;
    return since === undefined || noted?.dueAt?.getTime() === since.getTime() + QUIET_MS;
  });
  domain.clock.pass(QUIET_MS);
  await eventually('the account is gone', async () => {
    await deletion.sweep();
    return (await accounts.findNow(accountId)) === undefined;
  });
  domain.clock.pass(-QUIET_MS);
}
