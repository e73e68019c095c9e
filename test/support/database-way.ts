import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way over TCP to a database that listens on a socket. */
export interface DatabaseWay {
  /** Connection string over TCP. */
  readonly uri: string;
  readonly port: number;
  /** Ends all connections, and each new one at once. */
  cut(): void;
  repair(): void;
  close(): void;
}

/** @returns the path of the socket in a connection string of `startMongo`. */
export function socketPathOf(uri: string): string {
  return decodeURIComponent(new URL(uri).hostname);
}

/**
 * Opens a way over TCP to the embedded database: for connections that are to be cut, and for clients that do not see the
 * file system of this machine.
 */
export async function openDatabaseWay(uri: string, port = 0): Promise<DatabaseWay> {
  const path = socketPathOf(uri);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(path);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const own = (server.address() as AddressInfo).port;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    // A URL keeps no port beside a host that is a path.
    uri: uri.replace(/^mongodb:\/\/[^/]+/, `mongodb://127.0.0.1:${own}`),
    port: own,
    cut,
    repair() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
