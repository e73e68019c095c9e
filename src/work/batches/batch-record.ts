import { type Batch, type BatchStatus, hasFinished, pendingOf, totalsOf } from './batch.ts';
import type { BatchView } from './batch-service.ts';
import { paceMs } from './pace.ts';

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
    percentComplete: Math.floor((1000 * (completed + failed)) / batch.total) / 10,
  };
}

/**
 * When a batch is expected to end: by the pace at which its items end or, before any item has ended, by the estimate of
 * its admission. Null when the batch has ended.
 */
export function estimatedCompletion(batch: Batch, now: Date): Date | null {
  if (hasFinished(batch)) return null;
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
    job: {
      id: batch._id,
      status,
      accessExpired,
      totalCount: batch.total,
      completedCount: progress.completed,
      failedCount: progress.failed,
      ...times,
      notes: batch.notes,
      metadata: { ...batch.metadata },
    },
  };
}
