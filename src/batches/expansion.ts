import type { Clock } from '../clock.ts';
import type { HandOver } from '../jobs/hand-over.ts';
import type { Job } from '../jobs/job.ts';
import { BATCH_LANE, placeOf } from '../jobs/lanes.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import { queuedJob } from '../jobs/new-job.ts';
import type { JobStore } from '../jobs/store/job-store.ts';
import { type NamedPlan, poolOf } from '../plans/plan.ts';
import { type Batch, chunkCount, itemJobId } from './batch.ts';
import type { BatchStore } from './batch-store.ts';

export interface ExpansionParts {
  readonly batches: BatchStore;
  readonly store: JobStore;
  readonly ledger: Ledger;
  readonly handOver: HandOver;
  readonly clock: Clock;
  /** The plan that an account has now. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
}

/** Whoever expands a batch and has not been heard of for this long, in milliseconds, is dead. */
export const EXPANDER_MS = 15_000;
/** Half of it: who has taken longer over a chunk stops, since another may be at it. */
const SLOW_MS = EXPANDER_MS / 2;

/**
 * Writes the jobs of a batch, chunk by chunk, at the places that were taken for them. Ids and places follow from the
 * batch, and a job that was written before is not written again, not even when it has ended since: after a kill anywhere,
 * whoever goes on begins at the last chunk that is noted.
 *
 *    for each chunk:  write its jobs; note that; hand free slots to them
 *    at the end:      confirm the arrival; note that the batch is open
 *
 * @param batch as it was taken care of just now.
 * @returns the batch once its jobs are written, or when it has failed; undefined when it is somebody else's care now.
 */
export async function expand(parts: ExpansionParts, batch: Batch): Promise<Batch | undefined> {
  const { batches, ledger, handOver, clock } = parts;
  const { accountId, _id } = batch;
  let mine = batch;
  for (let number = batch.expanded; number < chunkCount(batch); number += 1) {
    const record = await ledger.find(accountId);
    if (record?.arriving?.[_id] === undefined) {
      // Somebody may have written the rest of them since the batch was seen, and have confirmed the arrival.
      const left = await batches.fail(mine);
      return left.phase === 'open' || left.phase === 'failed' ? left : undefined;
    }
    const kept = await batches.take(mine, EXPANDER_MS);
    if (kept === undefined) return undefined;
    mine = kept;
    const jobs = await jobsOf(parts, mine, number);
    if (mine.busyUntil.getTime() - clock.now().getTime() < SLOW_MS) return undefined;
    await parts.store.transitions.acceptAll(await unwritten(parts, jobs));
    await batches.expanded(_id, number + 1);
    await handOver.serve(accountId);
  }
  const confirmed = await ledger.confirmArrival(accountId, _id);
  await handOver.serve(accountId, confirmed);
  return batches.opened(_id);
}

/** Those of the jobs of a chunk that nobody has written yet. */
async function unwritten({ store }: ExpansionParts, jobs: readonly Job[]): Promise<Job[]> {
  const ids = jobs.map(({ _id }) => _id);
  // In this order: a job that ends is copied to the history before it leaves those that are live.
  const live = await store.live.among(ids);
  const ended = await store.history.among(ids.filter((id) => !live.has(id)));
  return jobs.filter(({ _id }) => !live.has(_id) && !ended.has(_id));
}

async function jobsOf({ batches, planOf }: ExpansionParts, batch: Batch, chunk: number): Promise<Job[]> {
  const items = await batches.chunk(batch._id, chunk);
  const { plan } = await planOf(batch.accountId);
  return items.map(({ id, fileName, inputMode, format, inputBytes }, i) => {
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
        createdAt: batch.createdAt,
        // The first must be there for as long as the last, which may wait for as long as it is kept.
        retentionHours: 2 * batch.retentionHours,
        item: { batchId: batch._id, id, index, chunk },
        ...(inputBytes !== undefined && { inputBytes }),
      }),
      place: placeOf(batch.accountId, BATCH_LANE, batch.firstPlace + index),
    };
  });
}
