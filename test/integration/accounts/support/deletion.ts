import { openDeletion as openDeletionOf } from '../../../../src/roles/services.ts';
import type { AccountDeletion, DeletionWork } from '../../../../src/tenants/accounts/account-deletion.ts';
import { deletionSteps } from '../../../../src/work/deletion-steps.ts';
import { eventually } from '../../../support/eventually.ts';
import { Sourced } from '../../batches/sourced.ts';
import type { TestApi } from '../../http/support/api.ts';

/** After this time a deletion may be finished, in milliseconds. */
export const QUIET_MS = 60_000;

/** The sweep of deletions of one process, which has others of the steps if a test says so. */
export function openDeletion(
  { core, services }: TestApi,
  change: (steps: readonly DeletionWork[]) => readonly DeletionWork[] = (steps) => steps,
): AccountDeletion {
  return openDeletionOf(core, services, change(deletionSteps(core, core)));
}

/** A deletion beside what else has to end the account's work. */
export function sweeps({ domain }: TestApi, deletion: AccountDeletion) {
  const sourced = new Sourced(domain);
  return {
    async sweep(): Promise<void> {
      await sourced.reader.sweep();
      await domain.batches.reconciler.sweep();
      await deletion.sweep();
    },
    close: () => sourced.close(),
  };
}

/** Sweeps until the account is gone; the clock passes the time that a deletion waits. */
export async function finishDeletion(
  api: TestApi,
  accountId: string,
  deletion = openDeletion(api),
): Promise<void> {
  const { domain, accounts, tenants } = api;
  const { sweep, close } = sweeps(api, deletion);
  await eventually('its records are deleted, and nothing but the wait is left', async () => {
    await sweep();
    await domain.flush();
    const noted = await tenants.deletions.find(accountId);
    const since = (await accounts.findNow(accountId))?.deletingSince;
    return since === undefined || noted?.dueAt?.getTime() === since.getTime() + QUIET_MS;
  });
  await close();
  domain.clock.pass(QUIET_MS);
  await eventually('the account is gone', async () => {
    await deletion.sweep();
    return (await accounts.findNow(accountId)) === undefined;
  });
  domain.clock.pass(-QUIET_MS);
}
