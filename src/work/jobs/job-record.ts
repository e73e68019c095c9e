import { expiryOf } from '../../infra/outputs/output-store.ts';
import { hasEnded, type Job, type JobState, keptOutput, pdfSize } from './job.ts';

/** Values of `status` that callers see. */
export const JOB_STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;
type JobStatus = (typeof JOB_STATUSES)[number];

/** For its owner, a dispatched job is still queued, because no worker has begun it. */
export function statusOf(job: Job): JobStatus {
  return job.state === 'dispatched' ? 'queued' : job.state;
}

/** The status `queued` stands for two states. */
export function statesOf(status: JobStatus): JobState[] {
  return status === 'queued' ? ['queued', 'dispatched'] : [status];
}

/** A job as the API returns it to its owner. */
export function jobRecord(job: Job) {
  const willRetry = !hasEnded(job.state) && job.error !== null;
  return {
    success: true,
    jobId: job._id,
    status: statusOf(job),
    inputMode: job.inputMode,
    outputMode: job.outputMode,
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
    completedAt: job.completedAt?.toISOString() ?? null,
    outputAvailable: keptOutput(job) !== null,
    outputExpiresAt: outputExpiry(job)?.toISOString() ?? null,
    downloadUrlEndpoint: `/v1/pdf/jobs/${job._id}/download-url`,
    fileName: job.fileName,
    pdfSize: pdfSize(job),
    pages: job.output?.pages ?? 0,
    processingTimeMs: job.processingTimeMs,
    attemptCount: job.attempts,
    retryAttempt: retryAttempt(job, willRetry),
    maxAttempts: job.maxAttempts,
    willRetry,
    deadLettered: job.state === 'failed',
    error: willRetry
      ? {
          code: 'RETRY_SCHEDULED',
          message: `Attempt ${job.attempts} failed (${job.error?.code}); another follows.`,
        }
      : job.error,
    ...reportLink(job),
  };
}

/** Until when the PDF of a job can be fetched at the latest; null without one. */
export function outputExpiry(job: Job): Date | null {
  const output = keptOutput(job);
  if (output === null) return null;
  return job.keepsNothing ? expiryOf(output.key) : job.expiresAt;
}

/** The path of the report of an ended job, if a report was requested. */
export function reportLink(job: Job): { reportEndpoint?: string } {
  return hasEnded(job.state) && job.wantsReport && !job.keepsNothing
    ? { reportEndpoint: `/v1/pdf/jobs/${job._id}/report` }
    : {};
}

/** The number of the scheduled, running or last retry (1 = first retry); null without a retry. */
function retryAttempt(job: Job, willRetry: boolean): number | null {
  const retries = job.state === 'queued' && willRetry ? job.attempts : job.attempts - 1;
  return retries > 0 ? retries : null;
}
