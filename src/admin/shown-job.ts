import type { Job } from '../work/jobs/job.ts';

/**
 * A job as operators see it: what became of it, and nothing of what its account has sent. The message of an error may
 * quote the document, an address or a template, so its code stands alone.
 */
export interface ShownJob {
  readonly id: string;
  readonly accountId: string;
  readonly state: string;
  readonly class: string;
  readonly pool: string;
  readonly plan: string;
  readonly test: boolean;
  readonly inputMode: string;
  readonly templateId: string | null;
  readonly batchId: string | null;
  readonly retryOf: string | null;
  readonly createdAt: string;
  readonly dispatchedAt: string | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly worker: string | null;
  readonly errorCode: string | null;
  readonly pages: number | null;
  readonly outputBytes: number | null;
  readonly processingTimeMs: number;
}

/** A job with its failed attempts. */
export interface ShownJobDetail extends ShownJob {
  readonly failedAttempts: readonly {
    readonly number: number;
    readonly startedAt: string;
    readonly endedAt: string;
    readonly errorCode: string;
  }[];
  /** When its next attempt is due; null when it waits for none. */
  readonly nextAttemptAt: string | null;
}

export function shownJob(job: Job): ShownJob {
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
    outputBytes: job.output?.size ?? null,
    processingTimeMs: job.processingTimeMs,
  };
}

export function shownJobDetail(job: Job): ShownJobDetail {
  const waitsForAttempt = job.state === 'queued' && job.position === undefined;
  return {
    ...shownJob(job),
    failedAttempts: (job.failedAttempts ?? []).map(({ number, startedAt, endedAt, error }) => ({
      number,
      startedAt: startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      errorCode: error.code,
    })),
    nextAttemptAt: waitsForAttempt ? job.notBefore.toISOString() : null,
  };
}

function time(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
