import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebPages {
  readonly url: string;
  readonly port: number;
  /** Every request that has come, oldest first. */
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

export type Page = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback with the given pages, for documents to load. */
export async function serveWebPages(
  pages: Record<string, Page | string>,
  host = '127.0.0.1',
): Promise<WebPages> {
  const requests: WebPages['requests'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, headers: request.headers });
    const page = pages[new URL(path, 'http://x').pathname];
    if (typeof page === 'function') page(request, response);
    else if (page === undefined)
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nothing here</h1>');
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
