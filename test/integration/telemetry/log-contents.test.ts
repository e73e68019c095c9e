import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { createLogger } from '../../../src/infra/telemetry/logger.ts';
import { ALL_OPTIONS } from '../../../src/render/options/all/render-options.ts';
import { startMongo } from '../../support/mongo.ts';

const BODY = 'the body of a document';

describe('the log', () => {
  const lines: string[] = [];
  const logger = createLogger(
    { level: 'debug', role: 'worker', instance: 'test' },
    { write: (line) => void lines.push(line) },
  );
  let connection: Connection;
  before(async () => {
    connection = await connectDatabase((await startMongo()).uri, logger);
  });
  after(() => connection.close());
  beforeEach(() => {
    lines.length = 0;
  });

  it('reports a write that the database rejected, without the written content', async () => {
    const row = { _id: 'same', data: Buffer.from(BODY), html: BODY };
    const refused = await connection
      .collection<{ _id: string; data: Buffer; html: string }>('chunks')
      .insertMany([row, row])
      .catch((error: unknown) => error);
    const error = new PlatenError('RENDER_FAILED', undefined, { cause: refused });
    logger.info({ err: error.cause }, 'attempt failed');
    logger.error({ err: error }, 'request failed');
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.ok(!line.includes(BODY) && !line.includes(Buffer.from(BODY).toString('base64')), line);
    }
    const [info, outer] = lines.map((line) => JSON.parse(line).err);
    assert.deepEqual([info.type, info.code], ['MongoBulkWriteError', 11000]);
    assert.match(info.stack, /log-contents/);
    assert.deepEqual([outer.code, outer.cause.code], ['RENDER_FAILED', 11000]);
  });

  it('removes fields that could hold a secret or a document', () => {
    logger.info({ request: { authorization: 'Bearer abc', html: BODY, assetHeaders: { a: BODY } } }, 'x');
    logger.info({ apiKey: 'sk_live_abc', password: 'abc', token: 'abc', data: { a: BODY } }, 'x');
    for (const { name, mask } of ALL_OPTIONS)
      if (mask !== undefined) logger.info({ [name]: { a: BODY }, options: { [name]: { a: BODY } } }, 'x');
    assert.ok(lines.length > 2);
    for (const line of lines) assert.ok(!/abc/.test(line) && !line.includes(BODY), line);
  });

  it('reports what was thrown when it is no error', () => {
    logger.error({ err: 'a text' }, 'x');
    assert.equal(JSON.parse(lines[0]!).err, 'a text');
  });
});
