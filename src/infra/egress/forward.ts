import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { EgressError } from './errors.ts';
import { EGRESS_HEADER, forwardedHeaders } from './headers.ts';

/** Rewrites an absolute-form request to origin form; Host is what the target says (RFC 9112 section 3.2.2). */
function onward(request: IncomingMessage, url: URL, extra: readonly string[]) {
  // 100-continue has been handled here already.
  const rest = forwardedHeaders(request.rawHeaders, ['host', 'expect']);
  return { url, headers: ['Host', url.host, ...rest, ...extra] };
}

/**
 * Sends `request` over `upstream`, a connection of its own, and the response back.
 *
 * @throws EgressError `unreachable` when the origin does not respond with HTTP; nothing has been sent back then.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  upstream: Socket,
): Promise<void> {
  // The parser removes the chunking, so a body without a length is chunked anew.
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
  // The body may break off or be rejected while the response is still good: only the response decides.
  pipeline(request, outgoing).catch(() => outgoing.destroy());
  try {
    const reply = await responseTo(outgoing);
    response.sendDate = false;
    response.writeHead(
      reply.statusCode ?? 502,
      reply.statusMessage,
      forwardedHeaders(reply.rawHeaders, [EGRESS_HEADER]),
    );
    await pipeline(reply, response);
  } catch (error) {
    upstream.destroy();
    if (!response.headersSent) {
      throw new EgressError('unreachable', `${url.hostname} does not respond.`, String(error), {
        cause: error,
      });
    }
    // Half a response: closing the connection is the only way left to report it.
    response.destroy();
  }
}

function responseTo(outgoing: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.once('close', () => reject(new Error('closed without a response')));
  });
}

/** The head of an absolute-form request for a web socket, as the origin has to receive it. */
export function upgradeHead(request: IncomingMessage, url: URL): string {
  const upgrade = request.headers.upgrade ?? '';
  const { headers } = onward(request, url, ['Connection', 'Upgrade', 'Upgrade', upgrade]);
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return [`GET ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
