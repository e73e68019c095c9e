import { type Dispatcher, fetch } from 'undici';

/** Statuses whose responses have no body (Fetch standard). */
const NULL_BODY = [204, 205, 304];

/**
 * A `fetch` for small documents of servers that customers name.
 *
 * @param dispatcher decides what may be reached, as that of `createGuardedAgent`; redirects are not followed.
 * @param maxBytes of a response; a longer one rejects.
 */
export function createGuardedFetch(dispatcher: Dispatcher, maxBytes: number): typeof globalThis.fetch {
  return async (input, { method, headers, body, signal } = {}) => {
    const response = await fetch(String(input), {
      ...{ dispatcher, redirect: 'manual' },
      ...{ method, signal: signal ?? null },
      headers: [...new Headers(headers)],
      body: body === undefined || body === null ? null : String(body),
    });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new Error(`The response has more than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
    const { status, statusText } = response;
    return new Response(NULL_BODY.includes(status) ? null : Buffer.concat(chunks), {
      ...{ status, statusText, headers: [...response.headers] },
    });
  };
}
