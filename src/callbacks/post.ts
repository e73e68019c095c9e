import { type Dispatcher, request } from 'undici';
import { PlatenError } from '../errors/registry.ts';

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
}

/** What a receiver answered, or why it did not. */
export type PostOutcome =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly status: null; readonly error: string };

/** Sends a callback once. Never fails. */
export type Post = (sent: PostRequest) => Promise<PostOutcome>;

/** Nothing is done with what a receiver says; this much is read so that the connection can be used again. */
const MOST_ANSWER_BYTES = 16 * 1024;

/**
 * Posts over `dispatcher`, which decides what may be reached. Redirects are not followed.
 *
 * @param timeoutMs for all of it: look-up, connection, request and answer.
 */
export function createPost(dispatcher: Dispatcher, timeoutMs: number): Post {
  return async ({ url, headers, body, signal }) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal: deadline });
      const retryAfter = answer.headers['retry-after'];
      // Its status says all, whatever comes after it.
      await answer.body.dump({ limit: MOST_ANSWER_BYTES, signal: deadline }).catch(() => undefined);
      return {
        status: answer.statusCode,
        retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      };
    } catch (error) {
      return { status: null, error: wordsFor(error, timeoutMs) };
    }
  };
}

/** For the account: without the addresses that errors of the system name. */
function wordsFor(error: unknown, timeoutMs: number): string {
  if (error instanceof PlatenError) return error.message;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `There was no answer within ${timeoutMs / 1000} s.`;
  return `The connection failed${code === undefined ? '' : ` (${code})`}.`;
}
