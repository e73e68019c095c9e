import type { Connection } from 'mongoose';
import type { OutputStore } from '../infra/outputs/output-store.ts';
import { deleteRecordsOf } from '../infra/store/account-records.ts';
import type { DeletionWork } from '../tenants/accounts/account-deletion.ts';
import { deleteBatchesOf } from '../work/batches/retention.ts';
import { cancelJobsBelowFence } from '../work/jobs/cancel-below-fence.ts';
import { isAtRest } from '../work/jobs/ledger/ledger-record.ts';
import { deleteKept } from '../work/jobs/sweeps/retention.ts';
import type { JobLife } from './job-life.ts';

interface DeletionStepsDeps extends Omit<JobLife, 'callbacks'> {
  readonly connection: Connection;
  readonly outputs: OutputStore;
}

/** Jobs that are deleted together. */
const PAGE = 500;
/** Pages that one pass deletes at most, so that other accounts have their turn, and a process can stop. */
const PAGES = 10;
/** No owner of the account has a fence as high: all work is ended. */
const ALL = Number.POSITIVE_INFINITY;

/** What becomes of the records of an account that is deleted. To be created before the connection's indexes. */
export function deletionSteps(deps: DeletionStepsDeps): readonly DeletionWork[] {
  const { connection, jobs, batchStore, outputs } = deps;
  const { store, stored, ledger } = jobs;
  const { live, history } = store;
  return [
    {
      name: 'end work',
      async run(accountId) {
        // The batches before their jobs: a batch that is being expanded gets no more of them.
        await batchStore.cancelBefore(accountId, ALL);
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
      run: (accountId) => deleteBatchesOf({ batches: batchStore, store, stored, outputs }, accountId),
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
