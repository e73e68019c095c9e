import { type Backoff, pauseMs, retryAfterMs, sleep } from './backoff.ts';
import { type AttemptBounds, boundedFetch, type Fetch } from './bounded-fetch.ts';
import type { Connection } from './connection.ts';
import { PlatenConnectionError } from './errors.ts';

export interface RetryOptions extends Backoff, AttemptBounds {
  /**
   * No try begins later than this after the first one, in milliseconds. An address that has never led to a server is given
   * up after 5 seconds.
   */
  readonly giveUpAfterMs: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  firstMs: 500,
  longestMs: 20_000,
  giveUpAfterMs: 120_000,
  // A synchronous render is responded to after 25 seconds at the latest (the default of the service).
  answerTimeoutMs: 45_000,
  silenceTimeoutMs: 30_000,
};

const SAFE_TO_REPEAT = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];
/** Paths whose POST submits a render, a conversion or a batch, and takes an idempotency key. */
const SUBMISSIONS = /\/v1\/pdf(?:\/(?:batch|convert|fill|flatten))?$/;
const KEY_HEADER = 'idempotency-key';

/**
 * A fetch that retries a request, with the same headers and body, when a later attempt can succeed. A request that
 * submits a render or a batch gets an Idempotency-Key unless it has one. A request that is not safe to repeat (any other
 * POST without such a key) is retried only when the service has rejected it with 429.
 *
 * An attempt has succeeded when its whole response has been received, so a download that breaks off is begun anew.
 */
export function retryingFetch(connection: Connection, options: RetryOptions): Fetch {
  const { baseUrl, fetchOnce } = connection;
  return async (request) => {
    const begunAt = Date.now();
    if (
      request.method === 'POST' &&
      SUBMISSIONS.test(new URL(request.url).pathname) &&
      !request.headers.has(KEY_HEADER)
    ) {
      request.headers.set(KEY_HEADER, crypto.randomUUID());
    }
    const body = request.body === null ? undefined : await request.arrayBuffer();
    for (let tries = 1; ; tries += 1) {
      const outcome = await attempt(fetchOnce, request, options, body);
      const askedMs = 'response' in outcome ? retryAfterMs(outcome.response) : undefined;
      const wait = pauseMs(options, tries, askedMs);
      const failure = 'response' in outcome ? undefined : outcome.failure;
      const elapsedMs = Date.now() + wait - begunAt;
      if (
        !(await canRetry(outcome, request)) ||
        !connection.mayRetry(failure, elapsedMs, options.giveUpAfterMs)
      ) {
        if ('response' in outcome) return outcome.response;
        throw new PlatenConnectionError(baseUrl, tries, failure);
      }
      await sleep(wait, request.signal);
    }
  };
}

type Outcome = { readonly response: Response } | { readonly failure: unknown };

/** @throws the reason of the request's own signal, when that was aborted. */
async function attempt(
  fetchOnce: Fetch,
  request: Request,
  bounds: AttemptBounds,
  body: ArrayBuffer | undefined,
): Promise<Outcome> {
  try {
    const response = await boundedFetch(fetchOnce, request, bounds, body);
    const bytes = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    return { response: new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers }) };
  } catch (failure) {
    request.signal.throwIfAborted();
    return { failure };
  }
}

async function canRetry(outcome: Outcome, request: Request): Promise<boolean> {
  const repeatable = SAFE_TO_REPEAT.includes(request.method) || request.headers.has(KEY_HEADER);
  if (!('response' in outcome)) return repeatable;
  const { status } = outcome.response;
  if (status === 429) return true;
  if (!repeatable || (status < 500 && status !== 409)) return false;
  const { code, jobId } = await errorOf(outcome.response);
  // The first request with this key is still in progress: its response will be given to this one, too.
  if (status === 409) return code === 'IDEMPOTENCY_IN_PROGRESS';
  // A job that failed has had all its attempts.
  return jobId === undefined;
}

async function errorOf(response: Response): Promise<{ code?: unknown; jobId?: unknown }> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null ? body : {};
}
