import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A request as it came, with or without a response. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
  readonly socket: Socket;
}

/**
 * An address that leads to one server after the other, as that of a Service does. When the present one vanishes, its
 * connections stay open, take requests and respond to none; new connections lead to the next one.
 */
export class VanishingServer {
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #gone = new Set<Socket>();

  private constructor(handler: Handler) {
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { method = '', url: path = '', headers, socket } = request;
      const key = headers['idempotency-key'] as string | undefined;
      this.seen.push({ method, path, key, body, socket });
      if (!this.#gone.has(socket)) handler(request, response, body);
    });
    this.#server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
  }

  static async start(handler: Handler): Promise<VanishingServer> {
    const started = new VanishingServer(handler);
    await new Promise<void>((listening) => started.#server.listen(0, '127.0.0.1', listening));
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @returns the connections that lead nowhere from now on. */
  vanish(): readonly Socket[] {
    const lost = [...this.#open];
    for (const socket of lost) this.#gone.add(socket);
    return lost;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
