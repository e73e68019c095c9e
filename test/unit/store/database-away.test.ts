import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mongo } from 'mongoose';
import { DatabaseSilent, isDatabaseAway } from '../../../src/infra/store/database-away.ts';

/** Every class of errors of the driver that says that there is no response at present. */
const AWAY = [
  'MongoClientClosedError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  'MongoOperationTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoServerSelectionError',
  'MongoStalePrimaryError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'PoolClearedOnNetworkError',
];

/** All others: they say that a command or a setting is wrong, or belong to parts of the driver that are not used. */
const OTHERS = [
  'MongoAPIError',
  'MongoAWSError',
  'MongoAzureError',
  'MongoBatchReExecutionError',
  'MongoBulkWriteError',
  'MongoChangeStreamError',
  'MongoClientBulkWriteCursorError',
  'MongoClientBulkWriteError',
  'MongoClientBulkWriteExecutionError',
  'MongoCompatibilityError',
  'MongoCursorExhaustedError',
  'MongoCursorInUseError',
  'MongoDecompressionError',
  'MongoDriverError',
  'MongoError',
  'MongoExpiredSessionError',
  'MongoGCPError',
  'MongoGridFSChunkError',
  'MongoGridFSStreamError',
  'MongoInvalidArgumentError',
  'MongoKerberosError',
  'MongoMissingCredentialsError',
  'MongoMissingDependencyError',
  'MongoOIDCError',
  'MongoParseError',
  'MongoRuntimeError',
  'MongoServerError',
  'MongoSystemError',
  'MongoTailableCursorError',
  'MongoTransactionError',
  'MongoUnexpectedServerResponseError',
  'MongoWriteConcernError',
];

const serverError = (code: number) => new mongo.MongoServerError({ message: 'an error', code });

describe('An error of the database', () => {
  // From the driver itself, so that a class that a later version adds is sorted into one of the lists.
  const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const classes = ['mongodb/lib/error.js', 'mongodb/lib/cmap/errors.js', 'mongodb/lib/bulk/common.js']
    .flatMap((file) => Object.values(require(file) as Record<string, unknown>))
    .filter(
      (value): value is typeof mongo.MongoError =>
        typeof value === 'function' &&
        (value === mongo.MongoError || value.prototype instanceof mongo.MongoError),
    );
  /** Without its constructor, whose parameters differ. */
  const made = classes.map((one) => {
    const error: mongo.MongoError = Object.create(one.prototype, { errorLabelSet: { value: new Set() } });
    return error instanceof mongo.MongoWriteConcernError
      ? Object.assign(error, { result: { writeConcernError: { code: 0 } } })
      : error;
  });

  it('means that it is away for the classes of the driver that are no response, and for no other', () => {
    const named = (errors: readonly mongo.MongoError[]) => errors.map(({ name }) => name).sort();
    assert.deepEqual(named(made.filter(isDatabaseAway)), AWAY);
    assert.deepEqual(named(made.filter((error) => !isDatabaseAway(error))), OTHERS);
  });

  it('means that it is away when a server stops, starts or is no primary any more', () => {
    for (const code of [91, 189, 10_107, 11_600, 11_602, 13_435, 13_436])
      assert.equal(isDatabaseAway(serverError(code)), true, String(code));
    for (const code of [2, 11_000, 121]) assert.equal(isDatabaseAway(serverError(code)), false, String(code));
  });

  it('means that it is away when a majority has not confirmed a write', () => {
    const result = { ok: 1, writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } };
    assert.equal(isDatabaseAway(new mongo.MongoWriteConcernError(result)), true);
  });

  it('means that it is away when a bulk write has met such an error', () => {
    const ofBulk = (error: Error) =>
      new mongo.MongoBulkWriteError(Object.assign(error, { writeErrors: [] }), {} as mongo.BulkWriteResult);
    assert.equal(isDatabaseAway(ofBulk(new mongo.MongoNetworkError('connection closed'))), true);
    assert.equal(isDatabaseAway(ofBulk(new mongo.MongoNetworkTimeoutError('timed out'))), true);
    assert.equal(isDatabaseAway(ofBulk(serverError(11_000))), false);
  });

  it('means that it is away when it is marked as temporary', () => {
    const error = serverError(1);
    error.addErrorLabel('RetryableWriteError');
    assert.equal(isDatabaseAway(error), true);
  });

  it('means that it is away when it has been silent', () => {
    assert.equal(isDatabaseAway(new DatabaseSilent()), true);
    assert.equal(isDatabaseAway(new Error('The database does not respond.')), false);
    assert.equal(isDatabaseAway('away'), false);
  });
});
