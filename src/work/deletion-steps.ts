import type { Core } from '../infra/core.ts';
import { deleteRecordsOf } from '../infra/store/account-records.ts';
import type { DeletionWork } from '../tenants/accounts/account-deletion.ts';
import { deleteBatchesOf } from './batches/retention.ts';
import { cancelJobsBelowFence } from './jobs/cancel-below-fence.ts';
import { isAtRest } from './jobs/ledger/ledger-record.ts';
import { deleteKept } from './jobs/sweeps/retention.ts';
import type { Work } from './open-work.ts';

/** Jobs that are deleted together. */
const PAGE = 500;
/** Pages that one pass deletes at most, so that other accounts have their turn, and a process can stop. */
const PAGES = 10;
/** No owner of the account has a fence as high: all work is ended. */
const ALL = Number.POSITIVE_INFINITY;

/** What becomes of the records of an account that is deleted. */
export function deletionSteps(
  { connection, outputs }: Pick<Core, 'connection' | 'outputs'>,
  { jobs, batches }: Pick<Work, 'jobs' | 'batches'>,
): readonly DeletionWork[] {
  const { store, stored, ledger } = jobs;
  const { live, history } = store;
  return [
    {
      name: 'end work',
      async run(accountId) {
        // The batches before their jobs: a batch that is being expanded gets no more of them.
        await batches.store.cancelBefore(accountId, ALL);
        await cancelJobsBelowFence(jobs, accountId, ALL);
        const found = await ledger.find(accountId);
        if (found !== undefined && !isAtRest(found)) return false;
        // What has ended and is named by nothing: a process has died on the way.
        const left = await live.anyOf(accountId, PAGE);
        await history.take(left);
        return left.length === 0;
      },
    },
    {
      name: 'jobs',
      async run(accountId) {
        for (let page = 0; page < PAGES; page += 1) {
          const kept = await history.ofAccount(accountId, PAGE);
          await deleteKept({ history, stored }, outputs, kept);
          if (kept.length < PAGE) return true;
        }
        return false;
      },
    },
    {
      name: 'batches',
      async run(accountId) {
        const core = { batches: batches.store, store, stored, outputs };
        return (await deleteBatchesOf(core, accountId)) && (await batches.files.deleteOf(accountId));
      },
    },
    {
      name: 'records',
      async run(accountId) {
        await deleteRecordsOf(connection, accountId);
        return true;
      },
    },
  ];
}
