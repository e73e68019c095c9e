import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';

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
      acceptWebSocket(request, socket as Socket, `hello from ${address}`);
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

/** Completes the handshake (RFC 6455 section 4.2.2) and sends one short text frame. */
function acceptWebSocket(request: IncomingMessage, socket: Socket, text: string): void {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  socket.on('error', () => socket.destroy());
  socket.resume();
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
