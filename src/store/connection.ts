import mongoose, { type Connection } from 'mongoose';
import type { Logger } from '../telemetry/logger.ts';
import type { ClientCertificate } from './client-certificate.ts';

/**
 * A request that cannot reach the database fails after this time, in milliseconds, unless the URI names another time.
 */
const SERVER_SELECTION_MS = 10_000;
const PING_MS = 2000;
const FLUSH_MS = 5000;

/**
 * Opens a separate connection (no global one), so that one process can have two.
 *
 * @param certificate presented to the server, over TLS.
 * @throws when no server responds within the URI's serverSelectionTimeoutMS, by default SERVER_SELECTION_MS.
 */
export async function connectDatabase(
  uri: string,
  logger: Logger,
  certificate?: ClientCertificate,
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
  let closing = false;
  connection.on('disconnecting', () => {
    closing = true;
  });
  connection.on('disconnected', () => {
    if (!closing) logger.warn('database connection lost');
  });
  connection.on('reconnected', () => logger.info('database connection is back'));
  return connection.asPromise();
}

/** Resolves when the database responds. @throws when it does not respond within two seconds. */
export async function pingDatabase(connection: Connection): Promise<void> {
  await connection.db?.command({ ping: 1 }, { timeoutMS: PING_MS });
}

/**
 * Resolves when everything that was changed before is in the files of the database, so that its sudden end loses
 * nothing. @throws when it cannot be written, or is not within five seconds.
 */
export async function flushDatabase(connection: Connection): Promise<void> {
  await connection.db?.admin().command({ fsync: 1 }, { timeoutMS: FLUSH_MS });
}

/** Whether an error means that the database cannot be reached at the moment, not that it rejected a command. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof Error && AWAY.has(error.name);
}

/** Errors of the driver: no server could be selected, the connection broke, or the pool was cleared because of that. */
const AWAY: ReadonlySet<string> = new Set([
  'MongooseServerSelectionError',
  'MongoServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoPoolClearedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
]);
