import { backoffMs } from '../../infra/async/backoff.ts';
import { ERRORS, type PlatenError } from '../../infra/errors/registry.ts';
import type { Job } from './job.ts';

/** Ends of the browser by one document after which the document gets no other browser. */
const CRASHES_TO_QUARANTINE = 2;

/** Whether an attempt with this error counts towards the job's quarantine: its document ended the browser. */
export function isOwnCrash({ code, shared }: Pick<PlatenError, 'code' | 'shared'>): boolean {
  return code === 'BROWSER_CRASHED' && !shared;
}

/**
 * Whether a job's next attempt needs a browser of its own: the last attempt ended with the end of the browser. If the
 * browser ends again, it is known which document is the cause.
 */
export function mustBeAlone({ error }: Pick<Job, 'error'>): boolean {
  return error?.code === 'BROWSER_CRASHED';
}

type RetryDecision =
  | { readonly kind: 'fail' }
  /** `delayMs`: the wait before the next attempt may be dispatched. */
  | { readonly kind: 'retry'; readonly delayMs: number };

/** @param baseMs the wait before the second attempt, in milliseconds. @param random a number in [0, 1). */
export function decideRetry(
  job: Pick<Job, 'attempts' | 'maxAttempts' | 'crashes'>,
  error: PlatenError,
  baseMs: number,
  random: () => number,
): RetryDecision {
  const allowed = error.permanent ? 1 : Math.min(job.maxAttempts, ERRORS[error.code].attempts);
  const crashes = job.crashes + (isOwnCrash(error) ? 1 : 0);
  if (job.attempts >= allowed || crashes >= CRASHES_TO_QUARANTINE) return { kind: 'fail' };
  return {
    kind: 'retry',
    delayMs: Math.round(backoffMs(job.attempts, baseMs, Number.POSITIVE_INFINITY, random)),
  };
}
