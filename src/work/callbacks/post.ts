import { type Dispatcher, request } from 'undici';
import { PlatenError } from '../../infra/errors/registry.ts';
import { type KeptResponse, keepResponse } from './kept-response.ts';

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** The receiver's response, or why there was none. */
export type PostOutcome =
  | {
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** Absent where nobody asks for it. */
      readonly kept?: KeptResponse;
    }
  | {
      readonly status: null;
      readonly error: string;
      /** Another attempt would be the same. */
      readonly final?: true;
    };

/** Sends a callback once. Never fails. */
export type Post = (sent: PostRequest) => Promise<PostOutcome>;

/** @param dispatcher decides what may be reached; redirects are not followed. @param timeoutMs for all of it. */
export function createPost(dispatcher: Dispatcher, timeoutMs: number): Post {
  return async ({ url, headers, body, signal }) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await request(url, { method: 'POST', headers, body, dispatcher, signal: deadline });
      const retryAfter = response.headers['retry-after'];
      return {
        status: response.statusCode,
        retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
        kept: await keepResponse(response.headers, response.body),
      };
    } catch (error) {
      return { status: null, error: wordsForFailure(error, timeoutMs) };
    }
  };
}

/** For the account: without the addresses in the system's errors. */
export function wordsForFailure(error: unknown, timeoutMs: number): string {
  if (error instanceof PlatenError) return error.message;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `There was no response within ${timeoutMs / 1000} s.`;
  return `The connection failed${code === undefined ? '' : ` (${code})`}.`;
}
