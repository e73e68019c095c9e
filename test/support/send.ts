import { HUNG_MS } from './eventually.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON; fails the test when it is something else. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any;
}

/**
 * Sends a request over real HTTP, and follows no redirect.
 *
 * @param body texts and bytes are sent as they are, anything else as JSON.
 * @param hungMs the longest wait for the whole response, in milliseconds: a connection may lead to a process that is
 * gone.
 * @throws DOMException named TimeoutError after that; its connection is closed.
 */
export async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  hungMs = HUNG_MS,
): Promise<Reply> {
  const response = await fetch(new URL(path, url), {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(hungMs),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: sendable(body) }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    get json() {
      return JSON.parse(Buffer.from(bytes).toString());
    },
  };
}

function sendable(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
