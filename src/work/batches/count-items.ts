import type { Job } from '../jobs/job.ts';
import type { FollowUpStep } from '../jobs/job-follow-up.ts';
import { type Batch, hasFinished } from './batch.ts';
import type { BatchStore } from './batch-store.ts';
import type { ItemEnd } from './chunk-tally.ts';

/**
 * The step that follows the end of items: their batch counts them, and the last counted item finishes the batch.
 *
 * @param onFinished called for every batch that is found finished, before the ledger forgets its last items, so that a
 * crash cannot skip the call. Repeated for a batch, it must change nothing.
 */
export function countItems(
  batches: BatchStore,
  onFinished: (batch: Batch) => Promise<void> = async () => undefined,
): FollowUpStep {
  return {
    name: 'count it in its batch',
    async run(jobs) {
      for (const together of Map.groupBy(jobs.filter(isItem), chunkOf).values()) {
        const { batchId, chunk } = together[0]!.item;
        const ends = new Map(together.map((job) => [job.item.index, endOf(job)]));
        const batch = await batches.count(batchId, chunk, ends, firstStart(together));
        if (batch !== undefined && hasFinished(batch)) await onFinished(batch);
      }
    },
  };
}

type ItemJob = Job & { readonly item: NonNullable<Job['item']> };

function isItem(job: Job): job is ItemJob {
  return job.item !== undefined;
}

function chunkOf({ item }: ItemJob): string {
  return `${item.batchId}/${item.chunk}`;
}

function firstStart(jobs: readonly Job[]): Date | undefined {
  const starts = jobs.map(({ startedAt }) => startedAt).filter((at) => at !== null);
  return starts.length === 0 ? undefined : new Date(Math.min(...starts.map((at) => at.getTime())));
}

function endOf({ output, error }: Job): ItemEnd {
  return output === null ? { code: error?.code ?? 'INTERNAL', bytes: 0 } : { bytes: output.size };
}
