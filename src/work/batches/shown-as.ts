import type { mongo } from 'mongoose';
import { type Batch, type BatchStatus, RUNNING } from './batch.ts';

/**
 * The query for batches that are shown with a status; the counterpart of `statusOf` for one batch. The record of a
 * batch does not show that its first items run until one of them has ended.
 *
 * @param inFlight ids of the account's batches that have items in plan slots.
 */
export function shownAs(status: BatchStatus, inFlight: readonly string[]): mongo.Filter<Batch> {
  const running = { phase: { $in: RUNNING }, cancelledAt: null } as const;
  switch (status) {
    case 'queued':
      return { ...running, startedAt: { $exists: false }, _id: { $nin: [...inFlight] } };
    case 'processing':
      return { ...running, $or: [{ startedAt: { $exists: true } }, { _id: { $in: [...inFlight] } }] };
    case 'cancelled':
      // From the time of the owner's request.
      return { phase: { $in: [...RUNNING, 'cancelled'] }, cancelledAt: { $ne: null } };
    default:
      return { phase: status };
  }
}
