import type { CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX } from '../../infra/store/due-queue.ts';
import type { BatchItem } from './batch.ts';

/** The records of batches. */
export const BATCHES: CollectionSpec = {
  name: 'batches',
  account: { step: 'batches' },
  indexes: [
    // Unique because they contain the id: the embedded database reads only parts of a unique index
    // (docs/decisions/0178).
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { accountId: 1, test: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
  ],
  filtersBy: {
    fields: ['phase', 'cancelledAt', 'startedAt', '_id', '$or'],
    reason: 'the index leads to the batches of one account',
  },
};
/** The submitted fields of the items of one chunk, in order. */
export interface StoredChunk {
  readonly _id: string;
  readonly items: readonly BatchItem[];
}

/** The submitted items. */
export const CHUNKS: CollectionSpec = { name: 'batch_chunks', account: { step: 'batches' } };
/** How the items have ended. */
export const TALLIES: CollectionSpec = { name: 'batch_tallies', account: { step: 'batches' } };
/** When a sweep has to make sure that a batch is reconciled: while it is being expanded or cancelled. */
export const RECONCILED = listOfDue('batch_reconciliations');
/** When the outputs of a batch are to be deleted, and later its record. */
export const RETENTIONS = listOfDue('batch_retentions');

/** A due-queue of batch ids. The record of a batch decides whether it is really due. */
function listOfDue(name: string): CollectionSpec {
  return { name, account: { step: 'batches' }, indexes: [DUE_INDEX] };
}
