import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { isDuplicateKey } from '../../../src/infra/store/duplicate-key.ts';
import { startMongo } from '../../support/mongo.ts';

/** No server takes an array as `_id`. */
const REFUSED = { _id: ['an array'] };

describe('A duplicate key', () => {
  let connection: Connection;
  before(async () => {
    connection = await connectDatabase((await startMongo()).uri, pino({ level: 'silent' }));
    await connection.collection<{ _id: string }>('things').insertOne({ _id: 'there' });
  });
  after(() => connection.close());

  const errorOf = async (documents: readonly object[]): Promise<unknown> => {
    const things = connection.collection('things');
    const [first, ...more] = documents;
    const inserted =
      more.length === 0 ? things.insertOne(first!) : things.insertMany([...documents], { ordered: false });
    return inserted.then(
      () => assert.fail('was written'),
      (error: unknown) => error,
    );
  };

  it('is distinguished from other errors', async () => {
    assert.equal(isDuplicateKey(await errorOf([{ _id: 'there' }])), true);
    assert.equal(isDuplicateKey(await errorOf([REFUSED])), false);
    assert.equal(isDuplicateKey(new Error('something else')), false);
  });

  it('is the error of writes sent together only when no other kept one of them out', async () => {
    assert.equal(isDuplicateKey(await errorOf([{ _id: 'there' }, { _id: 'new' }, { _id: 'there' }])), true);
    assert.equal(isDuplicateKey(await errorOf([{ _id: 'there' }, REFUSED])), false);
    assert.equal(isDuplicateKey(await errorOf([REFUSED, { _id: 'there' }])), false);
  });
});
