import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import type { PlatenError } from '../../../src/infra/errors/registry.ts';
import { HOUR_MS, type OutputKey, outputKey } from '../../../src/infra/outputs/output-store.ts';
import { keysAfter } from '../../../src/infra/outputs/s3/listed-objects.ts';
import { createS3OutputStore, type S3OutputStore } from '../../../src/infra/outputs/s3/s3.ts';
import { eventually } from '../../support/eventually.ts';
import { openS3Front, type S3Front } from '../../support/s3-front.ts';
import { bucketClient, type S3Server, s3Config, sharedS3, startS3 } from '../../support/s3-server.ts';
import { makeSmallDisk } from '../../support/small-disk.ts';

const MIB = 1024 * 1024;
const SLOW_DOWN = { status: 503, code: 'SlowDown' } as const;

describe('Outputs in an S3 that', () => {
  let now = 0;
  const logged: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const open = (environment: Record<string, string>, probes = false): S3OutputStore =>
    createS3OutputStore(s3Config(environment), { logger, probes, nowMs: () => now });
  const newKey = (): OutputKey => outputKey(randomUUID(), 1, new Date(Date.now() + HOUR_MS));
  const read = async (store: S3OutputStore, key: OutputKey) => {
    const stored = await store.get(key);
    return stored && (await buffer(stored.stream));
  };
  /** Puts until the store is reported as failing, which takes ten seconds of failures. */
  const putWhileItFails = async (store: S3OutputStore, key: OutputKey, pdf: Uint8Array) => {
    let done = false;
    const put = store.put(key, pdf).then(() => {
      done = true;
    });
    await eventually('it has failed for ten seconds', () => {
      now += 1000;
      return store.problem() !== undefined;
    });
    assert.equal(done, false);
    return { stored: put };
  };

  beforeEach(() => {
    now = 0;
    logged.length = 0;
  });

  describe('is a process of its own and', () => {
    let server: S3Server;
    let store: S3OutputStore;
    afterEach(async () => {
      await store.close();
      await server.close();
    });

    it('is killed: what is put waits, and is stored when it is back', async () => {
      server = await startS3();
      store = open(await server.newBucket());
      const [before, during] = [newKey(), newKey()];
      const pdf = randomBytes(50_000);
      await store.put(before, pdf);
      await server.stop();
      const { stored } = await putWhileItFails(store, during, pdf);
      assert.match(store.problem()!, /^output store: connect ECONNREFUSED [^ ]+ \(ECONNREFUSED\)$/);
      await assert.rejects(store.get(before), (error: PlatenError) => error.code === 'UNAVAILABLE');
      await server.start();
      await stored;
      assert.equal(store.problem(), undefined);
      assert.ok(pdf.equals((await read(store, during))!));
      assert.ok(pdf.equals((await read(store, before))!));
      assert.deepEqual(logged, [
        'the output store does not take PDFs: they wait in memory',
        'the output store takes PDFs again',
      ]);
    });

    it('has a full disk: what is put waits, and is stored when there is room', async () => {
      const scratch = await mkdtemp(join(tmpdir(), 'platen-s3-full-'));
      const disk = await makeSmallDisk(scratch, 24 * MIB);
      await mkdir(join(disk.seen, 'data'));
      try {
        server = await startS3({ folder: join(disk.folder, 'data'), runner: disk.runner });
        store = open(await server.newBucket());
        const [key, pdf] = [newKey(), randomBytes(3 * MIB)];
        disk.fill(MIB);
        const { stored } = await putWhileItFails(store, key, pdf);
        assert.equal(await store.get(key), undefined, 'nothing is seen of it');
        disk.empty();
        await stored;
        assert.ok(pdf.equals((await read(store, key))!));
      } finally {
        await server.stop();
        disk.close();
        await rm(scratch, { recursive: true, force: true });
      }
    });
  });

  describe('is behind something that', () => {
    let front: S3Front;
    let environment: Record<string, string>;
    let store: S3OutputStore;
    beforeEach(async () => {
      const server = await sharedS3();
      front = await openS3Front(server.endpoint);
      environment = { ...(await server.newBucket()), PLATEN_S3_ENDPOINT: front.endpoint };
      store = open(environment);
    });
    afterEach(async () => {
      await store.close();
      await front.close();
    });
    const puts = () => front.seen.filter((request) => request.startsWith('PUT ')).length;

    it('is slow: a put takes as long', async () => {
      front.treat = () => 'hold';
      const [key, pdf] = [newKey(), randomBytes(MIB)];
      const put = store.put(key, pdf);
      await eventually('it is held', () => puts() === 1);
      front.treat = () => 'pass';
      assert.equal(await store.get(key), undefined);
      front.release();
      await put;
      assert.ok(pdf.equals((await read(store, key))!));
      assert.equal(puts(), 1);
    });

    it('loses the response of a put: it is put again, and is there once', async () => {
      let lost = 0;
      front.treat = (method) => (method === 'PUT' && lost++ === 0 ? 'lose' : 'pass');
      const [key, pdf] = [newKey(), randomBytes(MIB)];
      await store.put(key, pdf);
      assert.ok(pdf.equals((await read(store, key))!));
      assert.equal(puts(), 2);
    });

    it('refuses with 403: what is put waits until it may', async () => {
      front.treat = () => ({ status: 403, code: 'AccessDenied' });
      const [key, pdf] = [newKey(), randomBytes(1000)];
      const { stored } = await putWhileItFails(store, key, pdf);
      assert.match(store.problem()!, /^output store: said so \(AccessDenied\)$/);
      front.treat = () => 'pass';
      await stored;
      assert.ok(pdf.equals((await read(store, key))!));
    });

    it('has no room, and says so by 507: what is put waits', async () => {
      front.treat = () => ({ status: 507, code: 'InsufficientStorage' });
      const key = newKey();
      const { stored } = await putWhileItFails(store, key, randomBytes(1000));
      front.treat = () => 'pass';
      await stored;
      assert.equal((await read(store, key))?.length, 1000);
    });

    it('never takes an object that large: the put fails, and nothing else is held up', async () => {
      front.treat = (method) => (method === 'PUT' ? { status: 400, code: 'EntityTooLarge' } : 'pass');
      await assert.rejects(store.put(newKey(), randomBytes(1000)), { code: 'EntityTooLarge' });
      now += 20_000;
      assert.equal(store.problem(), undefined);
      assert.equal(puts(), 1);
    });

    it('fails in the midst of parts: the part alone is put again', async () => {
      let failed = 0;
      front.treat = (_, path) => (path.includes('partNumber=2') && failed++ < 2 ? SLOW_DOWN : 'pass');
      const [key, pdf] = [newKey(), randomBytes(40 * MIB)];
      await store.put(key, pdf);
      assert.ok(pdf.equals((await read(store, key))!));
      assert.deepEqual(
        front.seen
          .filter((request) => request.startsWith('PUT '))
          .map((put) => /partNumber=(\d)/.exec(put)?.[1]),
        ['1', '2', '2', '2', '3'],
      );
    });

    it('forgets an upload in parts, or loses its last response: the whole is put again', async () => {
      let lost = 0;
      front.treat = (method, path) =>
        method === 'POST' && path.includes('uploadId=') && lost++ === 0 ? 'lose' : 'pass';
      const [key, pdf] = [newKey(), randomBytes(33 * MIB)];
      await store.put(key, pdf);
      let forgotten = 0;
      front.treat = (_, path) =>
        path.includes('partNumber=2') && forgotten++ === 0 ? { status: 404, code: 'NoSuchUpload' } : 'pass';
      const again = newKey();
      await store.put(again, pdf);
      assert.ok(pdf.equals((await read(store, key))!));
      assert.ok(pdf.equals((await read(store, again))!));
      const { length } = front.seen.filter((request) => /^POST .*\?uploads=/.test(request));
      assert.equal(length, 4);
    });

    it('refuses all that is put: the signal of a put ends its wait', async () => {
      front.treat = () => SLOW_DOWN;
      for (const bytes of [1000, 40 * MIB]) {
        const given = new AbortController();
        const put = store.put(newKey(), randomBytes(bytes), given.signal);
        const before = front.seen.length;
        await eventually('it was tried', () => front.seen.length > before + 1);
        given.abort(new Error('lost'));
        await assert.rejects(put, /^Error: lost$/);
      }
      now += 60_000;
      assert.equal(store.problem(), undefined, 'nobody waits for it any more');
    });

    it('fails: a process that accepts work notices without storing anything, and notices the end', async () => {
      const accepting = open(environment, true);
      front.treat = (method) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : 'pass');
      await eventually('noticed', () => {
        now += 1000;
        return accepting.problem() !== undefined;
      });
      front.treat = () => 'pass';
      await eventually('noticed', () => accepting.problem() === undefined);
      const probes = puts();
      for (let i = 0; i < 9; i += 1) {
        now += 1000;
        assert.equal(accepting.problem(), undefined);
      }
      assert.equal(puts(), probes, 'one probe in ten seconds');
      assert.equal(store.problem(), undefined);
      await accepting.close();
    });

    it('ends a response half-way: the reader has an error, not half a file', async () => {
      const key = newKey();
      await store.put(key, randomBytes(5 * MIB));
      const { stream } = (await store.get(key))!;
      const reading = (async () => {
        for await (const piece of stream) {
          assert.ok(piece.length > 0);
          await front.close();
        }
      })();
      await assert.rejects(reading);
      front = await openS3Front((await sharedS3()).endpoint);
    });

    it('fails now and then: what is read is asked for again', async () => {
      const key = newKey();
      await store.put(key, Buffer.from('x'));
      let failed = 0;
      front.treat = () => (failed++ < 2 ? { status: 500, code: 'InternalError' } : 'pass');
      assert.equal(String(await read(store, key)), 'x');
      front.treat = () => SLOW_DOWN;
      await assert.rejects(store.get(key), (error: PlatenError) => {
        assert.equal(error.code, 'UNAVAILABLE');
        assert.doesNotMatch(error.message, /127\.0\.0\.1|bucket/);
        return true;
      });
    });

    it('knows no request that deletes several: each is deleted', async () => {
      front.treat = (method) => (method === 'POST' ? { status: 501, code: 'NotImplemented' } : 'pass');
      const keys = Array.from({ length: 40 }, newKey);
      for (const key of keys) await store.put(key, Buffer.from('x'));
      await store.delete(...keys.slice(0, 20));
      assert.equal(await store.deleteExpired(new Date(Date.now() + 3 * HOUR_MS)), 20);
      assert.equal(front.seen.filter((request) => request.startsWith('DELETE ')).length, 40);
    });
  });

  it('others use as well: nothing of theirs is deleted', async () => {
    const server = await sharedS3();
    const environment = await server.newBucket();
    const client = bucketClient(s3Config(environment));
    const [ours, alone] = [open({ ...environment, PLATEN_S3_PREFIX: 'ours/' }), open(environment)];
    const kept = [
      '100000/notes.txt',
      '100000/job.1.pdf.bak',
      'ours/100000/notes.txt',
      'photos/1.jpg',
      'theirs/100000/job.1.pdf',
    ];
    for (const key of kept) await (await client.send({ method: 'PUT', key })).body.dump();
    for (const key of ['100000/job.1.pdf', 'ours/100000/job.1.pdf'])
      await (await client.send({ method: 'PUT', key })).body.dump();
    assert.equal(await ours.deleteExpired(new Date()), 1);
    assert.equal(await alone.deleteExpired(new Date()), 1);
    assert.deepEqual((await keysAfter(client, '', '')).sort(), [...kept].sort());
    for (const opened of [ours, alone, client]) await opened.close();
  });

  it('is asked for keys that lead elsewhere: they are rejected', async () => {
    const store = open(await (await sharedS3()).newBucket());
    for (const key of [
      '../secret.1.pdf',
      '1/../../secret.1.pdf',
      '1/a.1.pdf?acl=',
      '1/a.1.pdf\n',
      '',
      'x/a.1.pdf',
    ]) {
      await assert.rejects(store.get(key as OutputKey), RangeError, key);
      await assert.rejects(store.put(key as OutputKey, Buffer.from('x')), RangeError, key);
      await assert.rejects(store.delete(key as OutputKey), RangeError, key);
    }
    await store.close();
  });
});
