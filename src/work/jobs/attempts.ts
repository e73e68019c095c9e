import type { FailedAttempt, Job, JobError } from './job.ts';

export const ATTEMPT_OUTCOMES = ['running', 'completed', 'failed', 'cancelled'] as const;

/** An attempt to render a job, as its owner sees it. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  readonly startedAt: Date;
  /** Null while it runs. */
  readonly endedAt: Date | null;
  readonly outcome: (typeof ATTEMPT_OUTCOMES)[number];
  readonly error: JobError | null;
  /** Milliseconds; null while it runs, and when unknown. */
  readonly phases: FailedAttempt['phases'];
}

/**
 * The attempts of a job, the first one first. Failed attempts are in its record; a running attempt, or one that ended
 * the job otherwise, is derived from its other fields.
 */
export function attemptsOf(job: Job): Attempt[] {
  const { failedAttempts = [], attempts, startedAt, completedAt } = job;
  const failed = failedAttempts.map((attempt): Attempt => ({ ...attempt, outcome: 'failed' }));
  const isRecorded = failedAttempts.some(({ number }) => number === attempts);
  const hasAnother = job.state === 'processing' || job.endedFrom === 'processing';
  if (isRecorded || !hasAnother || startedAt === null) return failed;
  const last = { number: attempts, startedAt, endedAt: completedAt };
  switch (job.state) {
    case 'completed':
      return [
        ...failed,
        { ...last, outcome: 'completed', error: null, phases: job.output?.report?.phases ?? null },
      ];
    case 'failed':
    case 'cancelled':
      return [...failed, { ...last, outcome: job.state, error: job.error, phases: null }];
    default:
      return [...failed, { ...last, outcome: 'running', error: null, phases: null }];
  }
}

/** Milliseconds from a job's creation to its first attempt; without an attempt, to its end or to `now`. */
export function queuedMs(job: Job, now: Date): number {
  const [first] = attemptsOf(job);
  const until = first?.startedAt ?? job.completedAt ?? now;
  return Math.max(0, until.getTime() - job.createdAt.getTime());
}
