import mongoose, { type Connection } from 'mongoose';
import { within } from '../async/timeout.ts';
import { unlessAborted } from '../async/unless-aborted.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ClientCertificate } from './client-certificate.ts';
import './connection-pool.ts';
import { DatabaseSilent } from './database-away.ts';
import { ResponseWatch } from './response-watch.ts';

/** Milliseconds after which a request fails that cannot reach the database; the URI may name another time. */
const SERVER_SELECTION_MS = 10_000;
const PING_MS = 2000;
const FLUSH_MS = 5000;

/**
 * Opens a separate connection (no global one), so that one process can have two.
 *
 * @param certificate presented to the server, over TLS.
 * @param signal ends the wait for a server at once.
 * @throws when no server responds within the URI's serverSelectionTimeoutMS, by default SERVER_SELECTION_MS; the signal's
 * reason when it aborts.
 */
export async function connectDatabase(
  uri: string,
  logger: Logger,
  certificate?: ClientCertificate,
  signal: AbortSignal = new AbortController().signal,
): Promise<Connection> {
  const connection = mongoose.createConnection(uri, {
    // An option here would take precedence over the URI.
    ...(!/[?&]serverSelectionTimeoutMS=/i.test(uri) && { serverSelectionTimeoutMS: SERVER_SELECTION_MS }),
    autoIndex: false,
    autoCreate: false,
    // An acknowledged write is on disk in a majority of the members, so that an accepted job is durable.
    writeConcern: { w: 'majority', journal: true },
    ...(certificate !== undefined && { tls: true, ...certificate }),
  });
  loggers.set(connection, logger);
  watchOf(connection, (silent) => {
    if (silent) logger.warn('the database does not respond: requests that need it are rejected');
    else logger.info('the database responds again');
  });
  let closing = false;
  connection.on('disconnecting', () => {
    closing = true;
  });
  connection.on('disconnected', () => {
    if (!closing) logger.warn('database connection lost');
  });
  connection.on('reconnected', () => logger.info('database connection is back'));
  try {
    return await unlessAborted(signal, connection.asPromise());
  } catch (error) {
    // The connection's own close would wait for the end of the attempt.
    if (signal.aborted) await connection.getClient()?.close(true);
    throw error;
  }
}

const loggers = new WeakMap<Connection, Logger>();

/** The logger with which a connection was opened, if any. */
export function loggerOf(connection: Connection): Logger | undefined {
  return loggers.get(connection);
}

const watches = new WeakMap<Connection, ResponseWatch>();

/** The watch over the operations of a connection. */
export function watchOf(connection: Connection, onChange?: (silent: boolean) => void): ResponseWatch {
  const known = watches.get(connection);
  if (known !== undefined) return known;
  const watch = new ResponseWatch(async () => connection.db?.command({ ping: 1 }), {
    ...(onChange && { onChange }),
  });
  watches.set(connection, watch);
  return watch;
}

/** Resolves when the database responds. @throws when it does not respond within two seconds; at once while it is silent. */
export async function pingDatabase(connection: Connection): Promise<void> {
  const watch = watchOf(connection);
  if (watch.silent) throw new DatabaseSilent();
  await within(PING_MS, 'The response of the database', watch.ping());
}

/**
 * Resolves when everything that was changed before is in the files of the database, so that its sudden end loses
 * nothing. @throws when it cannot be written, or is not within five seconds.
 */
export async function flushDatabase(connection: Connection): Promise<void> {
  await connection.db?.admin().command({ fsync: 1 }, { timeoutMS: FLUSH_MS });
}
