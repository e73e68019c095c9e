import type { Server, ServerOptions } from 'node:http';
import type { Logger } from '../telemetry/logger.ts';
import { descriptorLimit } from './descriptors.ts';

/** Time limits of connections to the API, in milliseconds. */
export const CONNECTION_TIMEOUTS = {
  /** The time in which a whole request must be received: the longest that a slow upload can hold a connection. */
  requestTimeout: 60_000,
  /** The time for the headers, from the opening of the connection or the end of the previous request. */
  headersTimeout: 15_000,
  /** The interval between two checks of these limits. */
  connectionsCheckingInterval: 5000,
  /** Longer than proxies and clients keep an idle connection, so that none is closed while a request is on its way. */
  keepAliveTimeout: 75_000,
} satisfies ServerOptions;

/**
 * A connection is closed after this time without traffic, in milliseconds: responses to be sent over it are in memory
 * until then. Longer than callers wait for any response.
 */
const INACTIVITY_MS = 300_000;
/** Milliseconds beyond the wait for a PDF. */
const INACTIVITY_AFTER_WAIT_MS = 60_000;
/** The interval between two log lines about rejected connections, in milliseconds. */
const LOG_EVERY_MS = 60_000;

/**
 * The share of the file descriptors that connections may take. The rest is for the database, files, the connections of
 * documents and child processes, so that those who are connected get their responses.
 */
const DESCRIPTOR_SHARE = 1 / 2;

interface ConnectionBounds {
  readonly max: number;
  /** A connection without traffic is closed after this time, in milliseconds, as when its reader has stopped. */
  readonly inactivityMs: number;
}

/** The `inactivityMs` of an API. @param syncWaitMs how long it waits for a PDF, in milliseconds. */
export function inactivityMsFor(syncWaitMs: number): number {
  return Math.max(INACTIVITY_MS, syncWaitMs + INACTIVITY_AFTER_WAIT_MS);
}

/** The connections that a process may have. @param limit of its file descriptors; undefined when it is not known. */
export function mostConnections(max: number, limit = descriptorLimit()): number {
  return limit === undefined ? max : Math.max(1, Math.min(max, Math.floor(limit * DESCRIPTOR_SHARE)));
}

/**
 * Bounds the connections of a server. A connection past the bound is closed at once. Idle connections are closed with
 * it, so that the next connection can be accepted.
 */
export function boundConnections(
  server: Server,
  { max: wanted, inactivityMs }: ConnectionBounds,
  logger: Pick<Logger, 'warn'>,
): void {
  const max = mostConnections(wanted);
  if (max < wanted)
    logger.warn(
      { max, wanted },
      'fewer connections than set: half of the file descriptors (ulimit -n) are kept',
    );
  server.maxConnections = max;
  server.setTimeout(inactivityMs);
  let loggedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    server.closeIdleConnections();
    const now = performance.now();
    if (now - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now;
    logger.warn({ max }, 'connections are rejected: the limit is reached');
  });
}
