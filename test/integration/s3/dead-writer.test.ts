import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { HOUR_MS, outputKey } from '../../../src/infra/outputs/output-store.ts';
import { createS3OutputStore } from '../../../src/infra/outputs/s3/s3.ts';
import { elementsOf } from '../../../src/infra/outputs/s3/xml.ts';
import { eventually } from '../../support/eventually.ts';
import { openS3Front } from '../../support/s3-front.ts';
import { bucketClient, s3Config, sharedS3 } from '../../support/s3-server.ts';

const MIB = 1024 * 1024;

describe('A process that is killed in a put to S3', () => {
  it('leaves nothing that is read, and what it leaves is deleted when its hour is over', async () => {
    const server = await sharedS3();
    const front = await openS3Front(server.endpoint);
    const environment = {
      ...(await server.newBucket({ PLATEN_S3_PREFIX: 'p/' })),
      PLATEN_S3_ENDPOINT: front.endpoint,
    };
    const config = s3Config(environment);
    const store = createS3OutputStore(config, { logger: pino({ level: 'silent' }), probes: false });
    const client = bucketClient(config);
    const uploads = async () =>
      elementsOf(await client.text({ method: 'GET', query: { uploads: '' } }), 'Upload').length;
    const expiresAt = new Date(Date.now() + HOUR_MS);

    // Of one object, a part of it; of another, all but its completion.
    for (const [bytes, isReached] of [
      [10 * MIB, (request: string) => request.startsWith('PUT ')],
      [40 * MIB, (request: string) => /^POST .*uploadId=/.test(request)],
    ] as const) {
      const key = outputKey(randomUUID(), 1, expiresAt);
      front.treat = (method, path) => (isReached(`${method} ${path}`) ? 'hold' : 'pass');
      const before = front.seen.length;
      const writer = spawn(process.execPath, ['--input-type=module', '-e', script(environment, key, bytes)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      await eventually('it is held', () => front.seen.slice(before).some(isReached));
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      front.treat = () => 'pass';
      assert.equal(await store.get(key), undefined);
      // The next attempt has another fence; the same key works as well.
      const pdf = randomBytes(1000);
      await store.put(key, pdf);
      assert.ok(pdf.equals(await buffer((await store.get(key))!.stream)));
    }
    assert.equal(await uploads(), 1);
    assert.equal(await store.deleteExpired(new Date()), 0);
    assert.equal(await uploads(), 1, 'it may still be written');
    assert.equal(await store.deleteExpired(new Date(Date.now() + 3 * HOUR_MS)), 2);
    assert.equal(await uploads(), 0);
    await store.close();
    await client.close();
    await front.close();
  });
});

function script(environment: Record<string, string>, key: string, bytes: number): string {
  const module = (path: string): string =>
    JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
  return `
    const { loadConfig } = await import(${module('config/config.ts')});
    const { createS3OutputStore } = await import(${module('infra/outputs/s3/s3.ts')});
    const config = loadConfig('standalone', ${JSON.stringify(environment)});
    const store = createS3OutputStore(config, { logger: console, probes: false });
    await store.put(${JSON.stringify(key)}, Buffer.alloc(${bytes}, 'x'));`;
}
