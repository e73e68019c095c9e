import type { Server } from 'node:http';
import type { Logger } from '../telemetry/logger.ts';

/** Between two lines that say that connections are refused, in milliseconds. */
const TELL_EVERY_MS = 60_000;

export interface ConnectionBounds {
  readonly max: number;
  /** Milliseconds after which a connection is closed over which nothing passes, such as one whose reader stands still. */
  readonly stillMs: number;
}

/**
 * Bounds the connections of a server. One too many is closed at once; those that nobody is using at that moment are
 * closed as well, so that the next one finds room.
 */
export function boundConnections(
  server: Server,
  { max, stillMs }: ConnectionBounds,
  logger: Pick<Logger, 'warn'>,
): void {
  server.maxConnections = max;
  server.setTimeout(stillMs);
  let toldAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    server.closeIdleConnections();
    const now = performance.now();
    if (now - toldAt < TELL_EVERY_MS) return;
    toldAt = now;
    logger.warn({ max }, 'connections are refused: there are as many as there may be');
  });
}
