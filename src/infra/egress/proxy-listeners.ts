import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';

/** A listener of the egress proxy for one browser context, which shows whose documents its connections serve. */
export interface ProxyListener {
  /** For a context's `proxyServer`: http://127.0.0.1:PORT. */
  readonly url: string;
  /** The account whose documents use the listener; undefined while the context belongs to none. */
  accountId: string | undefined;
  /** Takes no more connections; open ones stay. Calling it again changes nothing. */
  close(): void;
}

/** Opens listeners for browser contexts. */
export interface ListenerOpener {
  openListener(): Promise<ProxyListener>;
}

interface ListenerBounds {
  /** Connections that one listener has at a time; further ones are closed at once. */
  readonly maxConnections: number;
  /** Connections that one listener has even when the proxy is full. */
  readonly kept: number;
  /** Whether the proxy has as many connections as it may have. */
  readonly full: () => boolean;
}

/**
 * The listeners of a proxy. A connection does not show which browser context it comes from, so each context has a port
 * of its own, whose connections are passed to the one HTTP server.
 */
export class ProxyListeners implements ListenerOpener {
  readonly #server: Server;
  readonly #bounds: ListenerBounds;
  readonly #proxyListenerOf = new WeakMap<Socket, ProxyListener>();
  readonly #ports = new Map<number, NetServer>();

  /** @param server its `connection` listeners serve what comes in. */
  constructor(server: Server, bounds: ListenerBounds) {
    this.#server = server;
    this.#bounds = bounds;
  }

  async openListener(): Promise<ProxyListener> {
    const portServer = createServer({ allowHalfOpen: true, noDelay: true });
    portServer.maxConnections = this.#bounds.maxConnections;
    const port = await listenOnLoopback(portServer);
    this.#ports.set(port, portServer);
    const listener: ProxyListener = {
      url: `http://127.0.0.1:${port}`,
      accountId: undefined,
      close: () => {
        if (this.#ports.get(port) !== portServer) return;
        this.#ports.delete(port);
        portServer.close();
      },
    };
    let connections = 0;
    portServer.on('connection', (socket) => {
      if (connections >= this.#bounds.kept && this.#bounds.full()) {
        socket.destroy();
        return;
      }
      connections += 1;
      socket.once('close', () => {
        connections -= 1;
      });
      this.#proxyListenerOf.set(socket, listener);
      this.#server.emit('connection', socket);
    });
    return listener;
  }

  /** The account whose document uses a connection; undefined when it came through no context's listener. */
  accountOf(socket: Socket): string | undefined {
    return this.#proxyListenerOf.get(socket)?.accountId;
  }

  has(port: number): boolean {
    return this.#ports.has(port);
  }

  close(): void {
    for (const portServer of this.#ports.values()) portServer.close();
    this.#ports.clear();
  }
}

/** @returns the port, a free one. */
export async function listenOnLoopback(server: NetServer): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
