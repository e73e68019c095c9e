import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { acceptWebSocket } from './web-socket.ts';

export interface WebPages {
  readonly url: string;
  readonly port: number;
  /** Every request that has come, oldest first. */
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

/** Marks the page that is a web socket. */
export const WEB_SOCKET = Symbol('web socket');
export type Page =
  | ((request: IncomingMessage, response: ServerResponse) => void)
  | string
  | typeof WEB_SOCKET;

/** A web server on loopback with the given pages, for documents to load. */
export async function serveWebPages(
  pages: Readonly<Record<string, Page>>,
  host = '127.0.0.1',
): Promise<WebPages> {
  const requests: WebPages['requests'] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, headers: request.headers });
    const page = pages[new URL(path, 'http://x').pathname];
    if (typeof page === 'function') page(request, response);
    else if (typeof page !== 'string')
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nothing here</h1>');
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  server.on('upgrade', (request, socket) => {
    const path = request.url ?? '/';
    requests.push({ path, headers: request.headers });
    sockets.add(socket);
    if (pages[path] === WEB_SOCKET) acceptWebSocket(request, socket);
    else socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
