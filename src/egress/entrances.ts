import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';

/** An address of the egress proxy for one browser context: so it is known for whose documents its connections are. */
export interface Entrance {
  /** For a context's `proxyServer`: http://127.0.0.1:PORT. */
  readonly url: string;
  /** Whose documents come through it; undefined while the context is nobody's. */
  accountId: string | undefined;
  /** Takes no more connections; those that are there stay. Calling it again changes nothing. */
  close(): void;
}

/** Who opens entrances. */
export interface EntranceOpener {
  openEntrance(): Promise<Entrance>;
}

export interface EntranceBounds {
  /** Connections that one entrance has at a time; further ones are closed at once. */
  readonly maxConnections: number;
  /** Connections that one entrance has even when the proxy is full. */
  readonly kept: number;
  /** Whether the proxy has as many connections as it may have. */
  readonly full: () => boolean;
}

/**
 * The entrances of a proxy. A proxy is told nothing of the browser context that a connection comes from, so each context
 * has a port of its own, whose connections are handed to the one HTTP server.
 */
export class Entrances implements EntranceOpener {
  readonly #server: Server;
  readonly #bounds: EntranceBounds;
  readonly #entranceOf = new WeakMap<Socket, Entrance>();
  readonly #ports = new Map<number, NetServer>();

  /** @param server its `connection` listeners serve what comes in. */
  constructor(server: Server, bounds: EntranceBounds) {
    this.#server = server;
    this.#bounds = bounds;
  }

  async openEntrance(): Promise<Entrance> {
    const door = createServer({ allowHalfOpen: true, noDelay: true });
    door.maxConnections = this.#bounds.maxConnections;
    const port = await listenOnLoopback(door);
    this.#ports.set(port, door);
    const entrance: Entrance = {
      url: `http://127.0.0.1:${port}`,
      accountId: undefined,
      close: () => {
        if (this.#ports.get(port) !== door) return;
        this.#ports.delete(port);
        door.close();
      },
    };
    let connections = 0;
    door.on('connection', (socket) => {
      if (connections >= this.#bounds.kept && this.#bounds.full()) {
        socket.destroy();
        return;
      }
      connections += 1;
      socket.once('close', () => {
        connections -= 1;
      });
      this.#entranceOf.set(socket, entrance);
      this.#server.emit('connection', socket);
    });
    return entrance;
  }

  /** For whose documents a connection is; undefined when it came through no entrance. */
  accountOf(socket: Socket): string | undefined {
    return this.#entranceOf.get(socket)?.accountId;
  }

  has(port: number): boolean {
    return this.#ports.has(port);
  }

  close(): void {
    for (const door of this.#ports.values()) door.close();
    this.#ports.clear();
  }
}

/** @returns the port: a free one. */
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
