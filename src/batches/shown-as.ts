import type { mongo } from 'mongoose';
import type { Batch, BatchStatus } from './batch.ts';

/**
 * The records of the batches that callers are shown with a status: what `statusOf` says of one batch, as a query. A batch
 * whose first items run has nothing in its record that says so before one of them has ended.
 *
 * @param inFlight ids of the account's batches that have items in plan slots.
 */
export function shownAs(status: BatchStatus, inFlight: readonly string[]): mongo.Filter<Batch> {
  const running = { phase: { $in: ['expanding', 'open'] }, cancelledAt: null } as const;
  switch (status) {
    case 'queued':
      return { ...running, startedAt: { $exists: false }, _id: { $nin: [...inFlight] } };
    case 'processing':
      return { ...running, $or: [{ startedAt: { $exists: true } }, { _id: { $in: [...inFlight] } }] };
    case 'cancelled':
      // From the moment at which its owner asks for it.
      return { phase: { $in: ['expanding', 'open', 'cancelled'] }, cancelledAt: { $ne: null } };
    default:
      return { phase: status };
  }
}
