import { type Batch, pendingOf } from '../batch.ts';
import type { Cursor, Reading } from '../readings.ts';

/** Rows of one step. */
export const STEP_ROWS = 100;
/** Bounds of the rows that may be items without having ended: enough that no slot waits for the next step. */
const AHEAD = { perSlot: 20, least: 100, most: 1000 };

/** What is to be done for a batch with a source. */
export type NextAction =
  /** Its rows are all items, or it has ended. */
  | { readonly kind: 'done' }
  /** A process has died in the step at the place of the reading; the batch ends, and what was written has to be known. */
  | { readonly kind: 'settle'; readonly cursor: Cursor }
  | { readonly kind: 'cut'; readonly why: 'cancelled' | 'expired' }
  | { readonly kind: 'survey' }
  /** Nothing, until its owner decides something or its deadline. */
  | { readonly kind: 'rest' }
  /** Nothing, until items have ended. */
  | { readonly kind: 'full' }
  | { readonly kind: 'step'; readonly cursor: Cursor; readonly rows: number; readonly again: boolean }
  | { readonly kind: 'whole' };

/**
 * Decides what is to be done next.
 *
 * @param slots plan slots of the account; 0 while it is suspended.
 * @param maxWaiting jobs of the account that may wait.
 */
export function nextAction(
  batch: Batch,
  { cursor, begun }: Pick<Reading, 'cursor' | 'begun'>,
  { slots, maxWaiting, now }: { readonly slots: number; readonly maxWaiting: number; readonly now: Date },
): NextAction {
  const { source, phase } = batch;
  if (source === undefined || phase !== 'reading') return { kind: 'done' };
  const why = batch.cancelledAt !== null ? 'cancelled' : source.deadline <= now ? 'expired' : undefined;
  const again = cursor !== undefined && begun === cursor.row && cursor.row < batch.total;
  if (why !== undefined)
    return cursor !== undefined && again ? { kind: 'settle', cursor } : { kind: 'cut', why };
  if (cursor === undefined) return { kind: 'survey' };
  const left = batch.total - cursor.row;
  if (left <= 0) return { kind: 'whole' };
  const unread = batch.total - cursor.row;
  const ahead = pendingOf(batch) - unread;
  const most = Math.min(aheadOf(slots), Math.max(1, Math.floor(maxWaiting / 2)));
  const proofLeft = proofRows(batch) - cursor.row;
  const isHeld = source.pausedAt !== undefined || proofLeft <= 0;
  // A step that has begun is completed, so that each of its rows is an item or has no job.
  if (isHeld && !again) return { kind: 'rest' };
  const toChunkEnd = batch.chunkSize - (cursor.row % batch.chunkSize);
  const wanted = Math.min(STEP_ROWS, left, toChunkEnd, proofLeft > 0 ? proofLeft : STEP_ROWS);
  const room = most - ahead;
  // Half of a step is worth its writes; a smaller one only when there will not be more room.
  if (!again && (slots < 1 || room < Math.min(wanted, Math.ceil(most / 2)))) return { kind: 'full' };
  return { kind: 'step', cursor, rows: again ? wanted : Math.max(1, Math.min(wanted, room)), again };
}

/** Rows that may be read before the batch is released; all without a proof. */
export function proofRows({ source, total }: Pick<Batch, 'source' | 'total'>): number {
  return source?.proof === undefined || source.releasedAt !== undefined
    ? total
    : Math.min(source.proof, total);
}

function aheadOf(slots: number): number {
  return Math.min(AHEAD.most, Math.max(AHEAD.least, AHEAD.perSlot * slots));
}
