import type { OutputStore } from '../../infra/outputs/output-store.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { JobInputs } from '../jobs/store/input-store.ts';
import { deleteKept } from '../jobs/sweeps/retention.ts';
import { type Batch, chunkCount, hasFinished, isVoid, itemJobId } from './batch.ts';
import { chunkIds } from './batch-admission.ts';
import type { BatchStore } from './batch-store.ts';

/** Batches of an account that are deleted together. */
const DELETED_AT_ONCE = 20;

interface RetentionDeps extends Pick<Jobs, 'store' | 'stored'> {
  readonly batches: BatchStore;
  readonly outputs: OutputStore;
}

/**
 * Deletes the outputs, jobs and inputs of batches whose retention has ended, and the records of batches that ended long
 * ago. A batch is purged again after a crash in between.
 *
 * @returns the number of changed batches.
 */
export async function endBatchRetention(deps: RetentionDeps, now: Date): Promise<number> {
  const { batches, stored } = deps;
  let ended = 0;
  for (;;) {
    const due = await batches.due(now);
    if (due === undefined) return ended;
    for (const batch of due.toPurge) {
      await purge(deps, batch);
      await batches.purged(batch);
    }
    for (const batch of due.toForget) {
      const { accountId, recordBytes } = batch;
      // The reservations of a failed batch were given back with its positions.
      if ((await batches.forget(batch)) && !isVoid(batch)) await stored.giveBack(accountId, recordBytes);
    }
    ended += due.toPurge.length + due.toForget.length;
  }
}

/** @returns false when some are left: they have not finished, or are more than one call deletes. */
export async function deleteBatchesOf(deps: RetentionDeps, accountId: string): Promise<boolean> {
  const { batches } = deps;
  const page = { accountId, limit: DELETED_AT_ONCE, offset: 0, newestFirst: false };
  const { batches: found } = await batches.list(page);
  const finished = found.filter((batch) => hasFinished(batch) && batch.busy === undefined);
  for (const batch of finished) {
    await purge(deps, batch);
    await batches.delete(batch);
  }
  return finished.length === found.length && found.length < DELETED_AT_ONCE;
}

async function purge({ batches, store, stored, outputs }: RetentionDeps, batch: Batch): Promise<void> {
  const { history, inputs } = store;
  for (let number = 0; number < chunkCount(batch); number += 1) {
    const items = await batches.chunk(batch._id, number);
    const ids = items.map(({ id }, i) => itemJobId(batch, number * batch.chunkSize + i, id));
    await deleteKept({ history, stored }, outputs, await history.some(ids));
    // The inputs of items that never became jobs.
    await inputs.delete(ids);
  }
  await deleteSharedChunks(inputs, batch);
  // The reservations of a failed batch were given back with its positions.
  if (!isVoid(batch)) await stored.giveBack(batch.accountId, batch.sharedBytes ?? 0);
}

/** Deletes what the inputs of a batch share. */
export function deleteSharedChunks(
  inputs: Pick<JobInputs, 'deleteChunks'>,
  { _id, sharedParts }: Batch,
): Promise<void> {
  return inputs.deleteChunks(chunkIds(_id, sharedParts));
}
