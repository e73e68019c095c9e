import mongoose, { type Connection } from 'mongoose';
import type { Logger } from '../telemetry/logger.ts';
import type { ClientCertificate } from './client-certificate.ts';

/** A request that cannot reach the database fails after this time, rather than hang, unless the URI names another. */
const SERVER_SELECTION_MS = 10_000;
const PING_MS = 2000;

/**
 * Opens a connection of its own (no global one): two of them can live in one process.
 *
 * @param certificate shown to the server, over TLS.
 * @throws when no server answers within the URI's serverSelectionTimeoutMS, by default SERVER_SELECTION_MS.
 */
export async function connectDatabase(
  uri: string,
  logger: Logger,
  certificate?: ClientCertificate,
): Promise<Connection> {
  const connection = mongoose.createConnection(uri, {
    // What is given here would win over the URI.
    ...(!/[?&]serverSelectionTimeoutMS=/i.test(uri) && { serverSelectionTimeoutMS: SERVER_SELECTION_MS }),
    autoIndex: false,
    autoCreate: false,
    // Writes that were answered are on disk in a majority of the members: "accepted" has to mean it.
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

/** Resolves when the database answers. @throws when it does not, within two seconds at the latest. */
export async function pingDatabase(connection: Connection): Promise<void> {
  await connection.db?.command({ ping: 1 }, { timeoutMS: PING_MS });
}

/** Whether an error says that the database cannot be reached at the moment, rather than that it refused something. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof Error && AWAY.has(error.name);
}

/** Of the driver: no server could be chosen, the connection broke, or the pool was cleared because of it. */
const AWAY: ReadonlySet<string> = new Set([
  'MongooseServerSelectionError',
  'MongoServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoPoolClearedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
]);
