import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { EgressError } from './errors.ts';
import { EGRESS_HEADER, forwardedHeaders } from './headers.ts';

/** A plain-http request as it goes on to the origin. */
interface Onward {
  readonly url: URL;
  readonly headers: string[];
}

/** Rewrites an absolute-form request to origin form; Host is what the target says (RFC 9112 section 3.2.2). */
function onward(request: IncomingMessage, url: URL, extra: readonly string[]): Onward {
  // 100-continue has been answered here already.
  const rest = forwardedHeaders(request.rawHeaders, ['host', 'expect']);
  return { url, headers: ['Host', url.host, ...rest, ...extra] };
}

/**
 * Sends `request` over `upstream`, a connection of its own, and its answer back.
 *
 * @throws EgressError `unreachable` when the origin does not answer with HTTP; nothing has been sent back then.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  upstream: Socket,
): Promise<void> {
  // Chunks are taken apart by the parser, so a body without a length is chunked anew.
  const chunked = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  const { headers } = onward(request, url, chunked);
  const outgoing = httpRequest({
    method: request.method,
    path: url.pathname + url.search,
    headers,
    setHost: false,
    createConnection: () => upstream,
    maxHeaderSize: 64 * 1024,
  });
  // The body may break off or be refused while the answer is still good: only the answer decides.
  pipeline(request, outgoing).catch(() => outgoing.destroy());
  try {
    const answer = await answerTo(outgoing);
    response.sendDate = false;
    response.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage,
      forwardedHeaders(answer.rawHeaders, [EGRESS_HEADER]),
    );
    await pipeline(answer, response);
  } catch (error) {
    upstream.destroy();
    if (!response.headersSent) {
      throw new EgressError('unreachable', `${url.hostname} does not answer.`, String(error), {
        cause: error,
      });
    }
    // Half an answer: closing the connection is the only way left to say so.
    response.destroy();
  }
}

function answerTo(outgoing: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.once('close', () => reject(new Error('closed without an answer')));
  });
}

/** The head of an absolute-form request that asks for a web socket, as the origin has to get it. */
export function upgradeHead(request: IncomingMessage, url: URL): string {
  const upgrade = request.headers.upgrade ?? '';
  const { headers } = onward(request, url, ['Connection', 'Upgrade', 'Upgrade', upgrade]);
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return [`GET ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
