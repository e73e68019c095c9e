import assert from 'node:assert/strict';
import { pino } from 'pino';
import { keysAfter } from '../../../src/infra/outputs/s3/listed-objects.ts';
import { createS3OutputStore } from '../../../src/infra/outputs/s3/s3.ts';
import { openS3Front, type S3Front } from '../../support/s3-front.ts';
import { bucketClient, type S3Server, s3Config, sharedS3 } from '../../support/s3-server.ts';

describe('The check of a bucket when a process starts', () => {
  let server: S3Server;
  let environment: Record<string, string>;
  before(async () => {
    server = await sharedS3();
    environment = await server.newBucket({ PLATEN_S3_PREFIX: 'platen/' });
  });

  const check = async (more: Record<string, string> = {}) => {
    const given = { ...environment, ...more };
    const store = createS3OutputStore(s3Config(given), { logger: pino({ level: 'silent' }), probes: false });
    try {
      await store.check();
    } finally {
      await store.close();
    }
  };

  it('passes, and leaves nothing behind', async () => {
    await check();
    const client = bucketClient(s3Config(environment));
    assert.deepEqual(await keysAfter(client, '', ''), []);
    await client.close();
  });

  it('names the bucket that is not there', async () => {
    await assert.rejects(check({ PLATEN_S3_BUCKET: 'nowhere' }), {
      message: `PLATEN_S3_BUCKET: there is no bucket nowhere at ${server.endpoint}. Create it, or correct its name.`,
    });
  });

  it('names a secret that is not that of the key', async () => {
    await assert.rejects(
      check({ AWS_SECRET_ACCESS_KEY: 'another' }),
      /^Error: AWS_SECRET_ACCESS_KEY: it is not the secret of AWS_ACCESS_KEY_ID: /,
    );
  });

  it('names a key that is not known', async () => {
    await assert.rejects(check({ AWS_ACCESS_KEY_ID: 'stranger' }), {
      message: `AWS_ACCESS_KEY_ID: the store at ${server.endpoint} does not know it.`,
    });
  });

  it('names the permission that is missing', async () => {
    await assert.rejects(
      check(await server.addUser('guest')),
      /^Error: PLATEN_S3_BUCKET: the credentials may not do what s3:PutObject allows in bucket-\d+\/platen\/: .*AccessDenied/,
    );
  });

  it('names the region that is another', async () => {
    await assert.rejects(
      check({ PLATEN_S3_REGION: 'us-east-1' }),
      /^Error: PLATEN_S3_REGION: the bucket bucket-\d+ is (not )?in /,
    );
  });

  it('names an address where nothing answers', async () => {
    await assert.rejects(
      check({ PLATEN_S3_ENDPOINT: 'http://127.0.0.1:9' }),
      /^Error: PLATEN_S3_ENDPOINT: no store answers at http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/,
    );
  });

  it('names credentials that are missing', async () => {
    const kept = { ...process.env };
    // Nothing else gives any: no files of a user, no instance.
    Object.assign(process.env, { HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' });
    try {
      await assert.rejects(
        check({ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }),
        /^Error: AWS_ACCESS_KEY_ID: there are no credentials for the bucket bucket-\d+\. Set /,
      );
    } finally {
      process.env.HOME = kept.HOME;
      delete process.env.AWS_EC2_METADATA_DISABLED;
    }
  });

  for (const [permission, method] of [
    ['s3:GetObject', /^GET \/[^?]*$/],
    ['s3:ListBucket', /^GET .*list-type/],
    ['s3:DeleteObject', /^DELETE /],
  ] as const) {
    it(`names ${permission} if that is what is missing`, async () => {
      const front: S3Front = await openS3Front(server.endpoint);
      front.treat = (verb, path) =>
        method.test(`${verb} ${path}`) ? { status: 403, code: 'AccessDenied' } : 'pass';
      await assert.rejects(
        check({ PLATEN_S3_ENDPOINT: front.endpoint }),
        new RegExp(`may not do what ${permission} allows`),
      );
      await front.close();
    });
  }
});
