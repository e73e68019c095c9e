import { Agent, fetch } from 'undici';
import {
  type Fetch,
  PlatenApiError,
  PlatenClient,
  PlatenConnectionError,
  type RetryOptions,
} from '../../clients/typescript/src/index.ts';
import { CommandError } from './command-error.ts';

/** No request of a command waits for a render, so a response begins sooner than the client's own bound. */
const RETRY: Partial<RetryOptions> = { longestMs: 10_000, answerTimeoutMs: 30_000 };
const POLLING = { firstMs: 200, longestMs: 2000 };

/**
 * A client of the service that the environment names.
 *
 * @throws CommandError when it does not name the service and a key: PLATEN_URL, PLATEN_API_KEY.
 */
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

/** An error as the user of a command reads it; one that is not of the client, as it is. */
export function reported(error: unknown, { PLATEN_URL: url }: NodeJS.ProcessEnv): Error {
  if (error instanceof PlatenApiError) {
    const { code, status, messages } = error;
    const what = code === undefined ? `status ${status}` : `${code}: ${messages.join('\n  ')}`;
    return new CommandError(`The service refuses: ${what}`);
  }
  if (error instanceof PlatenConnectionError) {
    return new CommandError(`${url} does not answer: ${String(innermostCause(error))}`);
  }
  return error as Error;
}

/** @throws CommandError when a download cannot write its file; what else it fails with, as it is. */
export async function saveAs(file: string, download: Promise<number>): Promise<void> {
  await download.catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error;
    throw new CommandError(`${file} could not be written: ${error.message}`);
  });
}

/** Of a failed fetch: what has happened to its connection. */
export function innermostCause(error: Error): unknown {
  return error.cause instanceof Error ? innermostCause(error.cause) : (error.cause ?? error);
}

/** After a failure every kept connection may lead to a server that is no more: the next request makes one of its own. */
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
