import { type Batch, type BatchSource, type BatchStatus, hasFinished, pendingOf, totalsOf } from './batch.ts';
import type { BatchView } from './batch-service.ts';
import { paceMs } from './pace.ts';
import { proofRows } from './source/next-action.ts';

export function statusOf({ batch, inFlight }: BatchView): BatchStatus {
  if (batch.phase === 'completed' || batch.phase === 'failed' || batch.phase === 'cancelled')
    return batch.phase;
  if (batch.cancelledAt !== null) return 'cancelled';
  return inFlight > 0 || batch.startedAt !== undefined ? 'processing' : 'queued';
}

export function progressOf({ batch, inFlight }: BatchView) {
  const { completed, failed } = totalsOf(batch);
  const pending = pendingOf(batch);
  return {
    total: batch.total,
    completed,
    failed,
    pending,
    /** Pending items that wait for a plan slot. */
    throttled: Math.max(0, pending - inFlight),
    // Before the rows of a file are counted there is no total.
    percentComplete: batch.total === 0 ? 0 : Math.floor((1000 * (completed + failed)) / batch.total) / 10,
  };
}

/**
 * When a batch is expected to end: by the pace at which its items end or, before any item has ended, by the estimate of
 * its admission. Null when the batch has ended.
 */
export function estimatedCompletion(batch: Batch, now: Date): Date | null {
  if (hasFinished(batch) || isHeld(batch)) return null;
  const pace = paceMs(batch, now);
  if (pace === undefined) {
    const expected = batch.createdAt.getTime() + batch.expectedSeconds * 1000;
    return new Date(Math.max(now.getTime(), expected));
  }
  return new Date(now.getTime() + pace * pendingOf(batch));
}

/** A batch as the API returns it to its owner. */
export function batchRecord(view: BatchView, accessExpired: boolean, now: Date) {
  const { batch } = view;
  const status = statusOf(view);
  const progress = progressOf(view);
  const times = {
    createdAt: batch.createdAt.toISOString(),
    updatedAt: batch.updatedAt.toISOString(),
    completedAt: batch.phase === 'completed' ? (batch.finishedAt?.toISOString() ?? null) : null,
    finishedAt: batch.finishedAt?.toISOString() ?? null,
    expiresAt: batch.expiresAt.toISOString(),
  };
  const path = `/v1/pdf/batch/${batch._id}`;
  return {
    jobId: batch._id,
    status,
    ...times,
    zipUrl: `${path}/zip`,
    manifestAvailable: hasFinished(batch) && !accessExpired,
    manifestDownloadUrlEndpoint: `${path}/manifest/download-url`,
    progress,
    estimatedCompletionTime: estimatedCompletion(batch, now)?.toISOString() ?? null,
    ...(batch.source && { source: sourceRecord(batch, batch.source) }),
    job: {
      id: batch._id,
      status,
      accessExpired: accessExpired || batch.keepsNothing === true,
      totalCount: batch.total,
      completedCount: progress.completed,
      failedCount: progress.failed,
      ...times,
      notes: batch.notes,
      metadata: { ...batch.metadata },
    },
  };
}

/** What becomes of the file of a batch. */
export const SOURCE_STATES = [
  'counting',
  'reading',
  'awaiting_release',
  'paused',
  'waiting',
  'read',
  'cut',
] as const;

/** The file of a batch as the API shows it. */
function sourceRecord(batch: Batch, source: BatchSource) {
  const { rows, read, waitsFor, error, deadline, proof, releasedAt } = source;
  return {
    state: sourceStateOf(batch, source),
    rows: rows ?? null,
    rowsRead: read,
    proof: proof ?? null,
    releasedAt: releasedAt?.toISOString() ?? null,
    deadline: deadline.toISOString(),
    waitsFor: waitsFor === undefined ? null : { code: waitsFor.code, message: waitsFor.message },
    error: error === undefined ? null : { code: error.code, message: error.message },
  };
}

function sourceStateOf(batch: Batch, source: BatchSource): (typeof SOURCE_STATES)[number] {
  if (batch.phase !== 'reading') return source.rows === source.read && !source.error ? 'read' : 'cut';
  if (source.pausedAt !== undefined) return 'paused';
  if (source.rows === undefined) return 'counting';
  if (source.read >= proofRows(batch) && source.read < batch.total) return 'awaiting_release';
  return source.waitsFor === undefined ? 'reading' : 'waiting';
}

/** Whether nobody knows when it goes on. */
function isHeld(batch: Batch): boolean {
  if (batch.source === undefined) return false;
  const state = sourceStateOf(batch, batch.source);
  return state !== 'reading' && state !== 'read' && state !== 'cut';
}
