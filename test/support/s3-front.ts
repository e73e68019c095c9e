import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a front does with a request: passes it on, answers it itself, or keeps it until it is released. */
export type Treatment =
  | 'pass'
  | 'hold'
  | { readonly status: number; readonly code: string }
  /** Passes it on, and ends the connection in place of the response. */
  | 'lose';

/** In front of an S3 server, which it keeps away or makes ill. */
export interface S3Front {
  readonly endpoint: string;
  /** Decides about each request that arrives from now on. */
  treat: (method: string, path: string) => Treatment;
  /** The requests that have arrived: `PUT /bucket/key`. */
  readonly seen: string[];
  /** Passes on what is held. */
  release(): void;
  close(): Promise<void>;
}

export async function openS3Front(target: string): Promise<S3Front> {
  const held: (() => void)[] = [];
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    seen.push(`${method} ${url}`);
    const treatment = front.treat(method, url);
    if (treatment === 'pass') pass(target, incoming, outgoing);
    else if (treatment === 'hold') held.push(() => pass(target, incoming, outgoing));
    else if (treatment === 'lose') pass(target, incoming, outgoing, true);
    else refuse(incoming, outgoing, treatment);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const front: S3Front = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    treat: () => 'pass',
    seen,
    release() {
      for (const go of held.splice(0)) go();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return front;
}

function pass(target: string, incoming: IncomingMessage, outgoing: ServerResponse, lose = false): void {
  const { method, url, headers } = incoming;
  // With the header Host as it is signed.
  const onward = request(target + url, { method, headers, setHost: false }, (response) => {
    if (lose) {
      response.resume().once('end', () => incoming.socket.destroy());
      return;
    }
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  onward.once('error', () => incoming.socket.destroy());
  incoming.once('close', () => {
    if (!incoming.complete) onward.destroy();
  });
  incoming.pipe(onward);
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, code }: { status: number; code: string },
): void {
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, { 'content-type': 'application/xml' });
    outgoing.end(
      `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>said so</Message></Error>`,
    );
  });
}
