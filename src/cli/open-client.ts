import { Agent, fetch } from 'undici';
import {
  type Fetch,
  PlatenApiError,
  PlatenClient,
  PlatenConnectionError,
  type RetryOptions,
} from '../../clients/typescript/src/index.ts';
import { CommandError } from './command-error.ts';

/** Requests of commands never wait for a render, so a response begins sooner than the client's default timeout. */
const RETRY: Partial<RetryOptions> = { longestMs: 10_000, answerTimeoutMs: 30_000 };
const POLLING = { firstMs: 200, longestMs: 2000 };

/** @throws CommandError when PLATEN_URL or PLATEN_API_KEY is missing or invalid. */
export function openClient(
  { PLATEN_URL: baseUrl = '', PLATEN_API_KEY: apiKey = '' }: NodeJS.ProcessEnv,
  retry = RETRY,
): PlatenClient {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new CommandError('PLATEN_URL must be the address of the service: http://localhost:8080');
  }
  if (apiKey === '') throw new CommandError('PLATEN_API_KEY must be an API key.');
  return new PlatenClient({ baseUrl, apiKey, retry, polling: POLLING, fetch: fetchByOwnConnections() });
}

/** An error of the client with a message for the user; any other error unchanged. */
export function reported(error: unknown, { PLATEN_URL: url }: NodeJS.ProcessEnv): Error {
  if (error instanceof PlatenApiError) {
    const { code, status, messages } = error;
    const what = code === undefined ? `status ${status}` : `${code}: ${messages.join('\n  ')}`;
    return new CommandError(`The service refuses: ${what}`);
  }
  if (error instanceof PlatenConnectionError) {
    return new CommandError(`${url} does not respond: ${String(innermostCause(error))}`);
  }
  return error as Error;
}

/** @throws CommandError when the file of a download cannot be written; other errors unchanged. */
export async function saveAs(file: string, download: Promise<number>): Promise<void> {
  await download.catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error;
    throw new CommandError(`${file} could not be written: ${error.message}`);
  });
}

/** The error of the connection, for a failed fetch. */
export function innermostCause(error: Error): unknown {
  return error.cause instanceof Error ? innermostCause(error.cause) : (error.cause ?? error);
}

/** A fetch with its own connections, of which none is used again after a failure: their server may be gone. */
function fetchByOwnConnections(): Fetch {
  let connections = new Agent();
  return async (request) => {
    const { url, method, signal } = request;
    const headers = [...request.headers];
    const body = request.body === null ? null : await request.arrayBuffer();
    const dispatcher = connections;
    try {
      const response = await fetch(url, { method, headers, signal, body, dispatcher });
      const { status, statusText } = response;
      return new Response(response.body as BodyInit | null, {
        status,
        statusText,
        headers: [...response.headers],
      });
    } catch (error) {
      if (connections === dispatcher) {
        connections = new Agent();
        void dispatcher.close();
      }
      throw error;
    }
  };
}
