import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import { pino } from 'pino';
import { createGridFsOutputStore } from '../../../src/infra/outputs/gridfs.ts';
import { HOUR_MS, type OutputKey, outputKey } from '../../../src/infra/outputs/output-store.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { startMongo } from '../../support/mongo.ts';

const logger = pino({ level: 'silent' });
const MEBIBYTE = 1024 * 1024;

describe('Outputs in GridFS', () => {
  let uri: string;
  let connection: Connection;

  before(async () => {
    ({ uri } = await startMongo());
    connection = await connectDatabase(uri, logger);
  });
  after(() => connection.close());

  const newKey = (expiresAt = new Date(Date.now() + HOUR_MS)): OutputKey =>
    outputKey(randomUUID(), 1, expiresAt);

  it('are files to any GridFS client', async () => {
    const [key, pdf] = [newKey(), randomBytes(2 * MEBIBYTE + 5)];
    await createGridFsOutputStore(connection).put(key, pdf);
    const bucket = new mongoose.mongo.GridFSBucket(connection.db!, { bucketName: 'outputs' });
    const read = await buffer(bucket.openDownloadStreamByName(key));
    assert.ok(read.equals(pdf));
    const [file] = await bucket.find({ filename: key }).toArray();
    assert.equal(file?.metadata?.contentType, 'application/pdf');
  });

  it('show nothing of a put whose process is killed, and a later put or sweep clears it away', async () => {
    const store = createGridFsOutputStore(connection);
    const chunks = connection.db!.collection<{ _id: string; files_id: string }>('outputs.chunks');
    const keys = [newKey(), newKey()];
    for (const key of keys) {
      const writer = startWriter(uri, key);
      while ((await chunks.countDocuments({ _id: `${key}/0` })) === 0) await sleep(1);
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      assert.equal(await store.get(key), undefined);
    }
    await store.put(keys[0]!, Buffer.from('whole'));
    assert.equal(String(await buffer((await store.get(keys[0]!))!.stream)), 'whole');
    assert.ok((await chunks.countDocuments({ files_id: keys[1]! })) > 0);
    await store.deleteExpired(new Date(Date.now() + 3 * HOUR_MS));
    assert.equal(await chunks.countDocuments({}), 0);
  });

  it('are read two pieces ahead of a reader that takes nothing, and no further', async () => {
    const store = createGridFsOutputStore(connection);
    const chunks = connection.db!.collection<{ _id: string; files_id: string }>('outputs.chunks');
    const key = newKey();
    await store.put(key, randomBytes(6 * MEBIBYTE));
    const resumed = Promise.withResolvers<void>();
    let taken = 0;
    const reader = new Writable({
      highWaterMark: 1,
      async write(piece: Buffer, _encoding, done) {
        await resumed.promise;
        taken += piece.length;
        done();
      },
    });
    const read = pipeline((await store.get(key))!.stream, reader);
    const broken = assert.rejects(read, /was deleted while it was read/);
    await sleep(500);
    // What has not been read by now is gone.
    for (let n = 2; n < 6; n += 1) await chunks.deleteOne({ _id: `${key}/${n}` });
    resumed.resolve();
    await broken;
    assert.ok(taken <= 2 * MEBIBYTE, `${taken} bytes`);
  });

  it('end a reader with an error when they are deleted under it, not with half a file', async () => {
    const store = createGridFsOutputStore(connection);
    const key = newKey();
    await store.put(key, randomBytes(6 * MEBIBYTE));
    const stored = await store.get(key);
    await store.delete(key);
    await assert.rejects(buffer(stored!.stream), /was deleted while it was read/);
  });
});

/** A process that puts 200 MB under the key, and stands still once the first piece is there. */
function startWriter(uri: string, key: OutputKey): ChildProcess {
  const module = (path: string): string =>
    JSON.stringify(new URL(`../../../src/infra/${path}`, import.meta.url).href);
  const script = `
    const { connectDatabase } = await import(${module('store/connection.ts')});
    const { createGridFsOutputStore } = await import(${module('outputs/gridfs.ts')});
    const connection = await connectDatabase(${JSON.stringify(`${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`)}, console);
    connection.getClient().on('commandSucceeded', ({ commandName }) => {
      if (commandName === 'insert') process.kill(process.pid, 'SIGSTOP');
    });
    await createGridFsOutputStore(connection).put(${JSON.stringify(key)}, Buffer.alloc(200_000_000, 'x'));`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
}
