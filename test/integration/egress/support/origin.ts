import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { acceptWebSocket, textFrame } from '../../../support/web-socket.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A web server at an address that stands for the public internet. Notes every request; speaks web sockets. */
export class Origin {
  readonly #server: Server;
  readonly address: string;
  readonly requests: Seen[] = [];
  readonly sockets = new Set<Socket>();
  /** Web sockets so far. */
  upgrades = 0;

  private constructor(address: string, server: Server) {
    this.address = address;
    this.#server = server;
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(
    address: string,
    respond: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => {
      response.end(`hello from ${address}`);
    },
    port = 0,
  ): Promise<Origin> {
    const server = createServer();
    const origin = new Origin(address, server);
    server.on('request', async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method = '', url = '', headers } = request;
      origin.requests.push({ method, url, headers, body });
      respond(request, response);
    });
    server.on('upgrade', (request, socket) => {
      origin.upgrades += 1;
      acceptWebSocket(request, socket);
      socket.write(textFrame(`hello from ${address}`));
      socket.resume();
    });
    server.listen(port, address);
    await once(server, 'listening');
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}

/** Listens where nothing may ever arrive, and counts what does. */
export class Canary {
  readonly #servers: TcpServer[];
  touched = 0;

  private constructor(servers: TcpServer[]) {
    this.#servers = servers;
    for (const server of servers) {
      server.on('connection', (socket) => {
        this.touched += 1;
        socket.destroy();
      });
    }
  }

  /** One port on every one of `addresses`. */
  static async start(...addresses: string[]): Promise<Canary> {
    const servers: TcpServer[] = [];
    for (const address of addresses) {
      const server = createTcpServer();
      server.listen(servers[0] ? (servers[0].address() as AddressInfo).port : 0, address);
      await once(server, 'listening');
      servers.push(server);
    }
    return new Canary(servers);
  }

  get port(): number {
    return (this.#servers[0]!.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
