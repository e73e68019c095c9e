import { LRUCache } from 'lru-cache';
import { type Batch, chunkCount } from './batch.ts';
import type { BatchStore } from './batch-store.ts';

/** Items whose positions a process remembers, of all batches together: about 100 bytes each. */
const REMEMBERED_ITEMS = 200_000;

interface Positions {
  /** Items that are there: a batch that is being read gets more. */
  readonly items: number;
  readonly byId: Map<string, number>;
}

/** The position of an item by its own id. Items never change, so chunks are read once for many
 * lookups. */
export class ItemPositions {
  readonly #remembered: LRUCache<string, Positions, Batch>;

  constructor(batches: Pick<BatchStore, 'chunk'>) {
    this.#remembered = new LRUCache({
      maxSize: REMEMBERED_ITEMS,
      sizeCalculation: (positions: Positions) => Math.max(1, positions.items),
      // Concurrent callers share one read.
      fetchMethod: (_id, known, { context }) => positionsOf(batches, context, known),
    });
  }

  /** @returns undefined when the batch has no such item. */
  async of(batch: Batch, itemId: string): Promise<number | undefined> {
    const known = this.#remembered.peek(batch._id);
    const forceRefresh = known !== undefined && known.items < itemsThere(batch);
    return (await this.#remembered.fetch(batch._id, { context: batch, forceRefresh }))?.byId.get(itemId);
  }
}

function itemsThere({ source, total }: Batch): number {
  return source?.read ?? total;
}

async function positionsOf(
  batches: Pick<BatchStore, 'chunk'>,
  batch: Batch,
  known: Positions = { items: 0, byId: new Map() },
): Promise<Positions> {
  const { byId } = known;
  for (let number = Math.floor(known.items / batch.chunkSize); number < chunkCount(batch); number += 1) {
    const items = await batches.chunk(batch._id, number);
    if (items.length === 0) break;
    for (const [i, { id }] of items.entries()) byId.set(id, number * batch.chunkSize + i);
  }
  return { items: itemsThere(batch), byId };
}
