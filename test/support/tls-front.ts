import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { SERVER } from './certificates.ts';

/** A TLS server in front of one without TLS, with the certificate `SERVER`. */
export interface TlsFront {
  readonly port: number;
  /** Connections so far whose handshake was done. */
  readonly accepted: () => number;
  close(): Promise<void>;
}

/**
 * @param path of the socket of the server behind it.
 * @param clientAuthority PEM of the authority that signs clients' certificates; without it none is required.
 */
export async function startTlsFront(path: string, clientAuthority?: string): Promise<TlsFront> {
  const open = new Set<TLSSocket>();
  let accepted = 0;
  const server = createServer({ ...SERVER, ...asking(clientAuthority) }, (socket) => {
    accepted += 1;
    open.add(socket);
    const behind = connect(path);
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => behind.destroy());
    behind.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      behind.destroy();
    });
  });
  // A client that does not trust it, or speaks no TLS.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function asking(clientAuthority: string | undefined): TlsOptions {
  if (clientAuthority === undefined) return {};
  return { requestCert: true, rejectUnauthorized: true, ca: clientAuthority };
}
