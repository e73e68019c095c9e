import { mongo } from 'mongoose';

/** The database has not responded for a while. A write that was waiting for its response may take effect yet. */
export class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent';
  constructor() {
    super('The database does not respond.');
  }
}

/**
 * Whether an error means that the database cannot be reached at the moment or is changing its state, not that it
 * rejected a command. A write may have taken effect nevertheless.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (AWAY.has(error.name)) return true;
  // The driver makes an error of a bulk write of every error, with the original inside.
  if (error instanceof mongo.MongoBulkWriteError && isDatabaseAway(error.errorResponse)) return true;
  return (
    error instanceof mongo.MongoError &&
    (isAwayCode(error) || AWAY_LABELS.some((l) => error.hasErrorLabel(l)))
  );
}

/**
 * Errors without a response: no server could be selected, no connection was free in time, the connection broke or timed
 * out, or the driver closed its connections because of that.
 */
const AWAY: ReadonlySet<string> = new Set([
  'DatabaseSilent',
  'MongooseServerSelectionError',
  'MongoServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoOperationTimeoutError',
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoStalePrimaryError',
]);

/** Labels of errors that the driver or the server marks as temporary. */
const AWAY_LABELS = ['RetryableWriteError', 'SystemOverloadedError'];

/**
 * Codes of MongoDB while a server starts, stops, or is not the primary any more, and of a majority that has not confirmed
 * a write in time (https://www.mongodb.com/docs/manual/reference/error-codes/).
 */
const AWAY_CODES: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
]);

/** An error of the write concern has its code in the response, below the code of the command. */
function isAwayCode(error: mongo.MongoError): boolean {
  if (error instanceof mongo.MongoWriteConcernError && AWAY_CODES.has(error.result.writeConcernError.code))
    return true;
  return AWAY_CODES.has(error.code);
}
