import { backoffMs } from '../async/backoff.ts';
import { ERRORS, type PlatenError } from '../errors/registry.ts';
import type { Job } from './job.ts';

/** A document that has ended the browser this often is not given another one. */
const CRASHES_TO_QUARANTINE = 2;

/** Whether an attempt that ended with this counts towards its job's quarantine: the browser's death was its own doing. */
export function isOwnCrash({ code, shared }: Pick<PlatenError, 'code' | 'shared'>): boolean {
  return code === 'BROWSER_CRASHED' && !shared;
}

/**
 * Whether a job's next attempt has to have a browser to itself: the last one ended with the browser's death, so that it
 * may end this one's as well, and which document does so will then be known.
 */
export function mustBeAlone({ error }: Pick<Job, 'error'>): boolean {
  return error?.code === 'BROWSER_CRASHED';
}

export type RetryDecision =
  | { readonly kind: 'fail' }
  /** `delayMs`: back-off before the next attempt may be dispatched. */
  | { readonly kind: 'retry'; readonly delayMs: number };

/**
 * Decides whether a job whose attempt has just failed gets another one.
 *
 * @param baseMs back-off before the second attempt, in milliseconds.
 * @param random a number in [0, 1).
 */
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
