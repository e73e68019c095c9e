import { spreadMs } from '../../infra/async/backoff.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait before each attempt of a delivery; after the last it has failed. */
export const ATTEMPT_DELAYS_MS = [
  0,
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
] as const;

/** The longest that a receiver may put off the next attempt, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 6 * HOUR_MS;

/**
 * The wait before the next attempt in milliseconds, never shorter than the schedule's.
 *
 * @param attempts made so far.
 * @param retryAfterMs the wait that the receiver requested.
 * @param random a number in [0, 1).
 * @returns undefined when there is no next attempt.
 */
export function nextDelayMs(
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  const planned = ATTEMPT_DELAYS_MS[attempts];
  if (planned === undefined) return undefined;
  const requestedMs = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return Math.max(spreadMs(planned, random), requestedMs);
}

/** The wait in a Retry-After header, given in seconds or as a date (RFC 9110 section 10.2.3), in milliseconds. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Only dates have letters; `Date.parse` takes many a number for one.
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
