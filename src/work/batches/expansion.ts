import { poolOf } from '../../tenants/plans/plan.ts';
import type { Job } from '../jobs/job.ts';
import { queuedJob } from '../jobs/new-job.ts';
import { BATCH_QUEUE, positionOf } from '../jobs/priority-queues.ts';
import { type Batch, chunkCount, itemJobId } from './batch.ts';
import type { BatchCore } from './batch-core.ts';

/** A process that expands a batch and has not renewed its lease for this long, in milliseconds, counts as dead. */
export const EXPANDER_MS = 15_000;
/** Half of that time: a process that has taken longer over a chunk stops, because another one may have begun. */
const SLOW_MS = EXPANDER_MS / 2;

/**
 * Writes the jobs of a batch, chunk by chunk, at the positions that were reserved for them. Ids and positions are
 * derived from the batch. A job that was written before is not written again, even if it has ended since. So after a
 * crash at any point the next process continues with the first chunk that is not recorded as written.
 *
 *    for each chunk:  write its jobs; record that; give out free slots
 *    at the end:      confirm the positions; record that the batch is open
 *
 * @param batch as returned when its lease was taken.
 * @returns the batch once its jobs are written, or when it has failed; undefined when another process has its lease
 * now.
 */
export async function expand(deps: BatchCore, batch: Batch): Promise<Batch | undefined> {
  const { batches, ledger, dispatch, clock } = deps;
  const { accountId, _id } = batch;
  let mine = batch;
  for (let number = batch.expanded; number < chunkCount(batch); number += 1) {
    const record = await ledger.find(accountId);
    if (record?.pending?.[_id] === undefined) {
      // Another process may have written the remaining jobs since the batch was read, and have confirmed the positions.
      const left = await batches.fail(mine);
      return left.phase === 'open' || left.phase === 'failed' ? left : undefined;
    }
    const kept = await batches.take(mine, EXPANDER_MS);
    if (kept === undefined) return undefined;
    mine = kept;
    const jobs = await jobsOf(deps, mine, number);
    if (mine.busyUntil.getTime() - clock.now().getTime() < SLOW_MS) return undefined;
    await deps.store.transitions.accept(await unwritten(deps, jobs));
    await batches.expanded(_id, number + 1);
    await dispatch.serve(accountId);
  }
  const confirmed = await ledger.confirmPositions(accountId, _id);
  await dispatch.serve(accountId, confirmed);
  return batches.opened(_id);
}

/** The jobs of a chunk that have not been written yet. */
async function unwritten({ store }: BatchCore, jobs: readonly Job[]): Promise<Job[]> {
  const ids = jobs.map(({ _id }) => _id);
  // Live jobs first: a job that ends is copied to the history before it is deleted from the live jobs.
  const live = await store.live.among(ids);
  const ended = await store.history.among(ids.filter((id) => !live.has(id)));
  return jobs.filter(({ _id }) => !live.has(_id) && !ended.has(_id));
}

async function jobsOf({ batches, planOf }: BatchCore, batch: Batch, chunk: number): Promise<Job[]> {
  const items = await batches.chunk(batch._id, chunk);
  const { plan } = await planOf(batch.accountId);
  return items.map(
    ({ id, fileName, inputMode, format, wantsReport, isProtected, uploadUrl, inputBytes }, i) => {
      const index = chunk * batch.chunkSize + i;
      return {
        ...queuedJob({
          _id: itemJobId(batch, index, id),
          accountId: batch.accountId,
          apiKeyId: batch.apiKeyId,
          plan: batch.plan,
          pool: poolOf(plan),
          class: 'bulk',
          test: batch.test,
          quotaPeriod: batch.quotaPeriod,
          inputMode,
          outputMode: 'url',
          fileName,
          format,
          ...(wantsReport && { wantsReport }),
          ...(isProtected && { isProtected }),
          ...(uploadUrl !== undefined && { uploadUrl }),
          createdAt: batch.createdAt,
          // The first job must be kept as long as the last, which may wait for the whole retention of the batch.
          retentionHours: 2 * batch.retentionHours,
          ...(batch.keepsNothing && { keepsNothing: true as const }),
          item: { batchId: batch._id, id, index, chunk },
          inputBytes,
          ...(batch.ownerFence !== undefined && { ownerFence: batch.ownerFence }),
          ...(batch.trace !== undefined && { trace: batch.trace }),
        }),
        position: positionOf(batch.accountId, BATCH_QUEUE, batch.firstPosition + index),
      };
    },
  );
}
