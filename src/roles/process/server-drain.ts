import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { within } from '../../infra/async/timeout.ts';

/** The pause between two checks for connections that have become idle, in milliseconds. */
const CLOSE_IDLE_MS = 100;
/** The most listeners for the end of one response: about ten modules have one, and Node warns from there on. */
const MOST_LISTENERS = 20;

/**
 * Ends a server whose callers keep connections for their next request. If an idle connection is closed, that request
 * may be on its way already, and would fail without an error of its caller. So the last response on each connection
 * announces the end first; callers then use another server (RFC 9112, section 9.6).
 */
export class ServerDrain {
  readonly #server: Server;
  readonly #pending = new Set<ServerResponse>();
  #closed: Promise<void> | undefined;

  /** To be made before the server's first request. */
  constructor(server: Server) {
    this.#server = server;
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.setMaxListeners(MOST_LISTENERS);
      this.#pending.add(response);
      response.once('close', () => this.#pending.delete(response));
      if (this.#closed !== undefined) announceClose(response);
    });
  }

  /**
   * Takes no more connections. Serves the next request on each open connection, with a response that announces the end.
   *
   * @param ms the longest wait for that, in milliseconds. It resolves earlier when no connection is left.
   */
  async takeLastRequests(ms: number): Promise<void> {
    await within(ms, 'the last requests', this.#stopListening()).catch(() => undefined);
  }

  /** Takes no more connections, and closes the open ones as they become idle. Resolves when none is left. */
  async close(): Promise<void> {
    const closed = this.#stopListening();
    this.#server.closeIdleConnections();
    const idle = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    await closed;
    clearInterval(idle);
    // Ends its checks for connections past their time-outs.
    this.#server.close();
  }

  /** Resolves when no connection is left. */
  #stopListening(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      // An HTTP server's own `close` would close idle connections as well.
      NetServer.prototype.close.call(this.#server, () => resolve());
      for (const response of this.#pending) announceClose(response);
    });
    return this.#closed;
  }
}

/** Announces the end of the connection in this response, unless its head has been sent already. */
function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
