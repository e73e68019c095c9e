import { LRUCache } from 'lru-cache';
import { type Batch, chunkCount } from './batch.ts';
import type { BatchStore } from './batch-store.ts';

/** Items whose positions a process remembers, of all batches together: about 100 bytes each. */
const REMEMBERED_ITEMS = 100_000;

type Positions = ReadonlyMap<string, number>;

/** The position of an item by its own id. Items never change, so chunks are read once for many lookups. */
export class ItemPositions {
  readonly #remembered: LRUCache<string, Positions, Batch>;

  constructor(batches: Pick<BatchStore, 'chunk'>) {
    this.#remembered = new LRUCache({
      maxSize: REMEMBERED_ITEMS,
      sizeCalculation: (positions: Positions) => Math.max(1, positions.size),
      // Concurrent callers share one read.
      fetchMethod: (_id, _stale, { context }) => positionsOf(batches, context),
    });
  }

  /** @returns undefined when the batch has no such item. */
  async of(batch: Batch, itemId: string): Promise<number | undefined> {
    return (await this.#remembered.fetch(batch._id, { context: batch }))?.get(itemId);
  }
}

async function positionsOf(batches: Pick<BatchStore, 'chunk'>, batch: Batch): Promise<Positions> {
  const positions = new Map<string, number>();
  for (let number = 0; number < chunkCount(batch); number += 1) {
    const items = await batches.chunk(batch._id, number);
    for (const [i, { id }] of items.entries()) positions.set(id, number * batch.chunkSize + i);
  }
  return positions;
}
