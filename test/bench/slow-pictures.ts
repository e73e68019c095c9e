import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>';

/** Who renders `documentWith` needs this: the pictures are served on loopback. */
export const PICTURES_ALLOWED = { PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8' };

export interface SlowPictures {
  /** The document with a picture at its end. */
  documentWith(html: string): string;
  close(): void;
}

/** Serves a picture that takes so many milliseconds, and is never cached. */
export async function startSlowPictures(delayMs: number): Promise<SlowPictures> {
  const server = createServer((_request, response) => {
    setTimeout(() => {
      response.writeHead(200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'no-store' }).end(SVG);
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    documentWith: (html) =>
      html.replace('</body>', `<img src="http://127.0.0.1:${port}/picture.svg"></body>`),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
