import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { acceptWebSocket } from '../../support/web-socket.ts';

/** A malicious server: documents of its own, endless bodies, and web sockets that flood. */
export interface Villain {
  readonly origin: string;
  /** Serves `html`. @returns its address. */
  page(html: string): string;
  /** What scripts of its documents have reported, and whether any was to report something: see scripts.ts. */
  readonly reported: Reported;
}

/** The one server of all villains: each attack has a villain of its own. */
export interface Villains {
  /** A villain without reports. */
  newVillain(): Villain;
  close(): Promise<void>;
}

/** The reports of documents, so that a document that does nothing is not taken for a harmless one. */
export class Reported {
  readonly #address: string;
  /** In order. */
  readonly all: string[] = [];
  /** Whether a document has got an address for its reports. */
  expected = false;

  constructor(address: string) {
    this.#address = address;
  }

  /** The beginning of an address to which a document appends its report. */
  get address(): string {
    this.expected = true;
    return `${this.#address}?`;
  }
}

const PIECE = Buffer.alloc(64 * 1024, 'x');
/** RFC 6455, section 1.3. */

export async function startVillains(): Promise<Villains> {
  const pages: string[] = [];
  const reported = new Map<string, Reported>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://villain');
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.resume();
    response.setHeader('Access-Control-Allow-Origin', '*');
    const listener = reported.get(url.pathname);
    if (listener) {
      listener.all.push(decodeURIComponent(url.search.slice(1)));
      response.end();
      return;
    }
    if (url.pathname === '/bytes') return sendBytes(response, Number(url.searchParams.get('n')));
    const page = pages[Number(url.pathname.slice('/page/'.length))];
    response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': 'text/html' }).end(page);
  });
  const floods = new Set<Socket>();
  server.on('upgrade', (request, duplex) => {
    const socket = duplex as Socket;
    floods.add(socket);
    flood(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    newVillain() {
      const path = `/reported/${reported.size}`;
      const own = new Reported(origin + path);
      reported.set(path, own);
      return { origin, reported: own, page: (html) => `${origin}/page/${pages.push(html) - 1}` };
    },
    async close() {
      for (const socket of floods) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendBytes(response: NodeJS.WritableStream & { destroyed?: boolean }, bytes: number): void {
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= PIECE.length;
      if (!response.write(PIECE)) {
        response.once('drain', more);
        return;
      }
    }
    if (!response.destroyed) response.end();
  };
  more();
}

/** Binary frames of 64 KiB (RFC 6455, section 5.2) for as long as they are read. */
function flood(request: IncomingMessage, socket: Socket): void {
  acceptWebSocket(request, socket);
  const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
  const frame = Buffer.concat([head, PIECE]);
  const more = (): void => {
    while (!socket.destroyed && socket.write(frame));
  };
  socket.on('drain', more);
  more();
}
