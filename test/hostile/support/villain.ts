import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server that is up to no good: documents of its own, endless bodies, and web sockets that flood. */
export interface Villain {
  readonly origin: string;
  /** Serves `html`. @returns its address. */
  page(html: string): string;
  /** What scripts of its documents have told it, and whether any was to tell something: see scripts.ts. */
  readonly told: Told;
}

/** The one server of as many villains as there are attacks. */
export interface Villains {
  /** Somebody who has been told nothing yet. */
  newVillain(): Villain;
  close(): Promise<void>;
}

/** What documents tell of what they do: so that one that does nothing is not taken for one that does no harm. */
export class Told {
  readonly #address: string;
  /** In order. */
  readonly all: string[] = [];
  /** Whether an address to tell something at has been given out. */
  expected = false;

  constructor(address: string) {
    this.#address = address;
  }

  /** The beginning of an address at which a document tells what is appended to it. */
  get address(): string {
    this.expected = true;
    return `${this.#address}?`;
  }
}

const PIECE = Buffer.alloc(64 * 1024, 'x');
/** RFC 6455, section 1.3. */
const WEB_SOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export async function startVillains(): Promise<Villains> {
  const pages: string[] = [];
  const told = new Map<string, Told>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://villain');
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.resume();
    response.setHeader('Access-Control-Allow-Origin', '*');
    const listener = told.get(url.pathname);
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
    flood(request.headers['sec-websocket-key'] ?? '', socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    newVillain() {
      const path = `/told/${told.size}`;
      const own = new Told(origin + path);
      told.set(path, own);
      return { origin, told: own, page: (html) => `${origin}/page/${pages.push(html) - 1}` };
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
function flood(key: string, socket: Socket): void {
  const accept = createHash('sha1').update(`${key}${WEB_SOCKET_GUID}`).digest('base64');
  socket.on('error', () => socket.destroy());
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
  const frame = Buffer.concat([head, PIECE]);
  const more = (): void => {
    while (!socket.destroyed && socket.write(frame));
  };
  socket.on('drain', more);
  more();
}
