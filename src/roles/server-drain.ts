import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { within } from '../async/timeout.ts';

/** Between two looks for connections that have become idle, in milliseconds. */
const CLOSE_IDLE_MS = 100;
/** Parts of the service that follow an answer to its end, each by a listener: about ten, which is where Node begins to warn. */
const MOST_LISTENERS = 20;

/**
 * Ends a server whose callers keep connections for their next request. One that is closed while it rests may have that
 * request on its way already, which then fails without its caller's fault. So callers are told first, in the answers that
 * they get, that these are the last; they go elsewhere then (RFC 9112, section 9.6).
 */
export class ServerDrain {
  readonly #server: Server;
  readonly #unanswered = new Set<ServerResponse>();
  #closed: Promise<void> | undefined;

  /** To be made before the server has had its first request. */
  constructor(server: Server) {
    this.#server = server;
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.setMaxListeners(MOST_LISTENERS);
      this.#unanswered.add(response);
      response.once('close', () => this.#unanswered.delete(response));
      if (this.#closed !== undefined) sayLast(response);
    });
  }

  /**
   * Takes no more connections. Goes on to answer what comes over those that there are, each with its last answer.
   *
   * @param ms how long it waits for that, in milliseconds. It resolves earlier when no connection is left.
   */
  async takeLastRequests(ms: number): Promise<void> {
    await within(ms, 'the last requests', this.#stopListening()).catch(() => undefined);
  }

  /** Takes no more connections, and closes those that there are as they become idle. Resolves when none is left. */
  async close(): Promise<void> {
    const closed = this.#stopListening();
    this.#server.closeIdleConnections();
    const idle = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    await closed;
    clearInterval(idle);
    // Ends its looks for connections that have run out of time.
    this.#server.close();
  }

  /** Resolves when no connection is left. */
  #stopListening(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      // That of an HTTP server would close the connections that rest as well.
      NetServer.prototype.close.call(this.#server, () => resolve());
      for (const response of this.#unanswered) sayLast(response);
    });
    return this.#closed;
  }
}

/** Has the connection closed with this answer, and the caller told so, unless its head is on its way already. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
