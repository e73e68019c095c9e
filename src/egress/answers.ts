import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { EgressError, type EgressFault } from './errors.ts';
import { EGRESS_HEADER } from './headers.ts';
import { endGently } from './tunnel.ts';

const STATUS: Readonly<Record<EgressFault, number>> = { blocked: 403, unresolvable: 502, unreachable: 504 };

/** What the proxy itself has to say: one line of text, and a header that names the fault. */
interface Answer {
  readonly status: number;
  readonly fault: EgressFault | 'malformed' | 'failed';
  readonly message: string;
}

/** Answers a request with why it could not be sent on; once an answer has begun all that is left is to cut it off. */
export function answerFault(response: ServerResponse): (error: unknown) => void {
  return (error) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const answer = answerFor(error);
    response.writeHead(answer.status, headersOf(answer)).end(bodyOf(answer));
  };
}

/** The same for a connection that node:http has let go of (CONNECT, upgrade). */
export function refuseFault(client: Socket): (error: unknown) => void {
  return (error) => refuse(client, answerFor(error));
}

/** Answers what is no proxy request at all, and closes. */
export function refuseMalformed(client: Socket, message: string): void {
  client.on('error', () => client.destroy());
  refuse(client, { status: 400, fault: 'malformed', message });
}

function answerFor(error: unknown): Answer {
  if (error instanceof EgressError) {
    return { status: STATUS[error.fault], fault: error.fault, message: error.message };
  }
  return { status: 500, fault: 'failed', message: 'The egress proxy failed.' };
}

function refuse(client: Socket, answer: Answer): void {
  const headers = Object.entries({ ...headersOf(answer), Connection: 'close' });
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  endGently(client, `${head.join('\r\n')}\r\n\r\n${bodyOf(answer)}`);
}

const bodyOf = (answer: Answer) => `${answer.message}\n`;

const headersOf = (answer: Answer) => ({
  [EGRESS_HEADER]: answer.fault,
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(bodyOf(answer))),
});
