import { type Job, pdfSize } from '../work/jobs/job.ts';

export function shownJob(job: Job) {
  return {
    id: job._id,
    accountId: job.accountId,
    state: job.state,
    class: job.class,
    pool: job.pool,
    plan: job.plan,
    test: job.test,
    inputMode: job.inputMode,
    templateId: job.templateId ?? null,
    batchId: job.item?.batchId ?? null,
    retryOf: job.retryOf ?? null,
    createdAt: job.createdAt.toISOString(),
    dispatchedAt: time(job.dispatchedAt),
    startedAt: time(job.startedAt),
    completedAt: time(job.completedAt),
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    worker: job.owner,
    errorCode: job.error?.code ?? null,
    pages: job.output?.pages ?? null,
    outputBytes: job.output && pdfSize(job),
    processingTimeMs: job.processingTimeMs,
  };
}

/**
 * A job as operators see it: what became of it, and nothing of what its account has sent. The message of an error may
 * quote the document, an address or a template, so its code stands alone.
 */
export type ShownJob = ReturnType<typeof shownJob>;

/** A job with its failed attempts. */
export function shownJobDetail(job: Job) {
  const waitsForAttempt = job.state === 'queued' && job.position === undefined;
  return {
    ...shownJob(job),
    failedAttempts: (job.failedAttempts ?? []).map(({ number, startedAt, endedAt, error }) => ({
      number,
      startedAt: startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      errorCode: error.code,
    })),
    /** When its next attempt is due; null when it waits for none. */
    nextAttemptAt: waitsForAttempt ? job.notBefore.toISOString() : null,
  };
}

export type ShownJobDetail = ReturnType<typeof shownJobDetail>;

function time(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
