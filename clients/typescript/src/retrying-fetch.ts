import { type Backoff, pauseMs, retryAfterMs, sleep } from './backoff.ts';
import { PlatenConnectionError } from './errors.ts';

export interface RetryOptions extends Backoff {
  /** No try begins later than this after the first one, in milliseconds. */
  readonly giveUpAfterMs: number;
  /** An attempt that has not brought the whole answer by then is given up, in milliseconds. */
  readonly attemptTimeoutMs: number;
}

export type Fetch = (request: Request) => Promise<Response>;

export const DEFAULT_RETRY: RetryOptions = {
  firstMs: 500,
  longestMs: 20_000,
  giveUpAfterMs: 120_000,
  attemptTimeoutMs: 120_000,
};

const SAFE_TO_REPEAT = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * A fetch that tries again, with the same headers and body, what a later try can mend. What is not known to be safe to
 * do twice (a POST without an Idempotency-Key) is tried again only when the service has refused it by a 429.
 *
 * An attempt has succeeded when its whole answer is here, so a download that breaks off is begun anew.
 */
export function retryingFetch(fetchOnce: Fetch, options: RetryOptions): Fetch {
  return async (request) => {
    const lastStart = Date.now() + options.giveUpAfterMs;
    for (let tries = 1; ; tries += 1) {
      const outcome = await attempt(fetchOnce, request, options.attemptTimeoutMs);
      const askedMs = 'response' in outcome ? retryAfterMs(outcome.response) : undefined;
      const wait = pauseMs(options, tries, askedMs);
      if (!(await canBeMended(outcome, request)) || Date.now() + wait > lastStart) {
        if ('response' in outcome) return outcome.response;
        throw new PlatenConnectionError(tries, outcome.failure);
      }
      await sleep(wait, request.signal);
    }
  };
}

type Outcome = { readonly response: Response } | { readonly failure: unknown };

/** @throws the reason of the request's own signal, when that was aborted. */
async function attempt(fetchOnce: Fetch, request: Request, timeoutMs: number): Promise<Outcome> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetchOnce(new Request(request.clone(), { signal }));
    const body = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    return { response: new Response(body.byteLength === 0 ? null : body, { status, statusText, headers }) };
  } catch (failure) {
    request.signal.throwIfAborted();
    return { failure };
  }
}

async function canBeMended(outcome: Outcome, request: Request): Promise<boolean> {
  const repeatable = SAFE_TO_REPEAT.includes(request.method) || request.headers.has('idempotency-key');
  if (!('response' in outcome)) return repeatable;
  const { status } = outcome.response;
  if (status === 429) return true;
  if (!repeatable || (status < 500 && status !== 409)) return false;
  const { code, jobId } = await errorOf(outcome.response);
  // The first request with this key is still being answered: its answer will be given to this one, too.
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
