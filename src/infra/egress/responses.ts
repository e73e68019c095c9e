import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { EgressError, type EgressErrorCode } from './errors.ts';
import { EGRESS_HEADER } from './headers.ts';
import { endGently } from './tunnel.ts';

const STATUS: Readonly<Record<EgressErrorCode, number>> = {
  blocked: 403,
  unresolvable: 502,
  unreachable: 504,
};

/** A response of the proxy itself: one line of text, and a header with the error's code. */
interface Reply {
  readonly status: number;
  readonly code: EgressErrorCode | 'malformed' | 'failed';
  readonly message: string;
}

/** Responds to a request with why it could not be forwarded; a response that has begun can only be cut off. */
export function respondWithError(response: ServerResponse): (error: unknown) => void {
  return (error) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const reply = responseFor(error);
    response.writeHead(reply.status, headersOf(reply)).end(bodyOf(reply));
  };
}

/** The same for a connection that node:http has detached (CONNECT, upgrade). */
export function rejectWithError(client: Socket): (error: unknown) => void {
  return (error) => reject(client, responseFor(error));
}

/** Responds to a malformed proxy request, and closes. */
export function rejectMalformed(client: Socket, message: string): void {
  client.on('error', () => client.destroy());
  reject(client, { status: 400, code: 'malformed', message });
}

function responseFor(error: unknown): Reply {
  if (error instanceof EgressError) {
    return { status: STATUS[error.code], code: error.code, message: error.message };
  }
  return { status: 500, code: 'failed', message: 'The egress proxy failed.' };
}

function reject(client: Socket, reply: Reply): void {
  const headers = Object.entries({ ...headersOf(reply), Connection: 'close' });
  const head = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  endGently(client, `${head.join('\r\n')}\r\n\r\n${bodyOf(reply)}`);
}

const bodyOf = (reply: Reply) => `${reply.message}\n`;

const headersOf = (reply: Reply) => ({
  [EGRESS_HEADER]: reply.code,
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(bodyOf(reply))),
});
