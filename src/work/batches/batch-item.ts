import { type Job, type JobError, keptOutput, pdfSize } from '../jobs/job.ts';
import { jobRecord, reportLink } from '../jobs/job-record.ts';
import { type Batch, type BatchItem, isVoid } from './batch.ts';
import type { ItemEnd } from './chunk-tally.ts';

/** Values of an item's `status`. A cancelled item has failed with CANCELLED. */
export const ITEM_STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];

/** An item as its owner sees it; `job` is undefined when no record of the job exists. */
export interface Item {
  readonly item: BatchItem;
  readonly status: ItemStatus;
  readonly job: Job | undefined;
  readonly error: JobError | { readonly code: string; readonly message: string } | null;
}

/** From its job or, once that is deleted, from the batch's count. @param end undefined when not counted. */
export function itemOf(batch: Batch, item: BatchItem, job: Job | undefined, end: ItemEnd | undefined): Item {
  if (job !== undefined) {
    const { status, error } = jobRecord(job);
    return { item, job, error, status: status === 'cancelled' ? 'failed' : status };
  }
  const { fault } = item;
  if (fault !== undefined) return { item, job, error: fault, status: 'failed' };
  if (end !== undefined) {
    const error = end.code === undefined ? null : { code: end.code, message: 'The item failed.' };
    return { item, job, error, status: error === null ? 'completed' : 'failed' };
  }
  if (isVoid(batch)) {
    const error = { code: 'UNAVAILABLE', message: 'The batch could not be run.' };
    return { item, job, error, status: 'failed' };
  }
  return { item, job, error: null, status: 'queued' };
}

/** An item as the API returns it to its owner. */
export function itemRecord(batch: Batch, { item, job, status, error }: Item) {
  const path = `/v1/pdf/batch/${batch._id}/items/${encodeURIComponent(item.id)}/download-url`;
  const available = job !== undefined && !batch.keepsNothing && keptOutput(job) !== null;
  return {
    itemId: item.id,
    status,
    outputAvailable: available,
    downloadUrlEndpoint: path,
    outputExpiresAt: available ? batch.expiresAt.toISOString() : null,
    errorMessage: error?.message ?? null,
    retryAttempt: job === undefined ? null : jobRecord(job).retryAttempt,
    error: error === null ? null : { code: error.code, message: error.message },
    pdfSize: job === undefined ? 0 : pdfSize(job),
    pages: job?.output?.pages ?? 0,
    processingTimeMs: job?.processingTimeMs ?? 0,
    ...(job !== undefined && reportLink(job)),
  };
}
