import { type Batch, chunkCount, hasFinished, isVoid } from './batch.ts';
import type { Item, ItemStatus } from './batch-item.ts';
import type { BatchService } from './batch-service.ts';

/**
 * One page of the items of a batch that have a status, in the order of the batch, and the total number of such items.
 * Chunks whose tally shows that no item of theirs is on the page are not read.
 */
export async function itemsByStatus(
  batches: Pick<BatchService, 'items'>,
  batch: Batch,
  status: ItemStatus,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ total: number; items: Item[] }> {
  const items: Item[] = [];
  let skip = offset;
  let total = 0;
  for (let chunk = 0; chunk < chunkCount(batch); chunk += 1) {
    const known = countedIn(batch, chunk, status);
    const isPassedBy = known !== undefined && (known <= skip || items.length === limit);
    const found = isPassedBy ? [] : await inChunk(batches, batch, chunk, status);
    const count = known ?? found.length;
    items.push(...found.slice(skip, skip + limit - items.length));
    skip = Math.max(0, skip - count);
    total += count;
  }
  return { total, items };
}

async function inChunk(
  batches: Pick<BatchService, 'items'>,
  batch: Batch,
  chunk: number,
  status: ItemStatus,
): Promise<Item[]> {
  const { chunkSize } = batch;
  const all = await batches.items(batch, { offset: chunk * chunkSize, limit: chunkSize });
  return all.filter((item) => item.status === status);
}

/** Undefined when the items have to be read. */
function countedIn(batch: Batch, chunk: number, status: ItemStatus): number | undefined {
  if (isVoid(batch)) return undefined;
  const { completed = 0, failed = 0 } = batch.tallies?.[chunk] ?? {};
  if (status === 'completed') return completed;
  if (status === 'failed') return failed;
  const size = Math.min(batch.chunkSize, batch.total - chunk * batch.chunkSize);
  return hasFinished(batch) || completed + failed === size ? 0 : undefined;
}
