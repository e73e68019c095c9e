import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DownloadProgress, PlatenClient } from '../../../clients/typescript/src/index.ts';

type Step = (request: IncomingMessage, response: ServerResponse) => void;

const BATCH = '3f0e1c58-8a11-4a53-9a0b-1c1f1d4c9a11';
const ZIP = randomBytes(3_000_000);
const ETAG = '"one"';

/** The file, or the part that is asked for, as far as `until`; then the connection is cut. */
const zip =
  ({ until = ZIP.length, etag = ETAG }: { until?: number; etag?: string | null } = {}): Step =>
  (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const isPart = from > 0 && request.headers['if-range'] === etag;
    const start = isPart ? from : 0;
    response.writeHead(isPart ? 206 : 200, {
      'content-type': 'application/zip',
      'content-length': ZIP.length - start,
      ...(etag !== null && { etag }),
      ...(isPart && { 'content-range': `bytes ${start}-${ZIP.length - 1}/${ZIP.length}` }),
    });
    if (until >= ZIP.length) response.end(ZIP.subarray(start));
    else response.write(ZIP.subarray(start, until), () => setTimeout(() => response.destroy(), 50));
  };
const rejectWith =
  (statusCode: number, code: string): Step =>
  (_, response) => {
    response.writeHead(statusCode, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ statusCode, error: 'x', message: 'x', code, requestId: 'r' }));
  };

/** What goes wrong between a client and a service, step by step, on a real connection. */
describe('a download', () => {
  let server: Server;
  let steps: Step[];
  let urls: (string | undefined)[];
  let ranges: (string | undefined)[];
  let client: PlatenClient;
  /** Gives up soon. */
  let impatient: PlatenClient;
  let folder: string;
  let path: string;

  before(async () => {
    server = createServer((request, response) => {
      urls.push(request.url);
      assert.equal(request.headers['x-api-key'], 'sk_live_x');
      ranges.push(request.headers.range);
      (steps.shift() ?? rejectWith(500, 'INTERNAL'))(request, response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  beforeEach(async () => {
    urls = [];
    ranges = [];
    folder = await mkdtemp(join(tmpdir(), 'platen-download-'));
    path = join(folder, 'batch.zip');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const clientOf = (giveUpAfterMs: number) => {
      const retry = { firstMs: 20, longestMs: 100, giveUpAfterMs };
      return new PlatenClient({ baseUrl, apiKey: 'sk_live_x', retry });
    };
    client = clientOf(15_000);
    impatient = clientOf(2500);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is whole, with its progress', async () => {
    steps = [zip()];
    const reported: DownloadProgress[] = [];
    const size = await client.batches.download(BATCH, path, {
      onProgress: (progress) => reported.push(progress),
    });
    assert.equal(size, ZIP.length);
    assert.ok((await readFile(path)).equals(ZIP));
    assert.deepEqual(reported.at(-1), { received: ZIP.length, total: ZIP.length });
    assert.ok(reported.length > 3);
    assert.deepEqual(await readdir(folder), ['batch.zip']);
  });

  it('goes on where the connection broke, as often as it does', async () => {
    steps = [
      rejectWith(503, 'UNAVAILABLE'),
      zip({ until: 400_000 }),
      zip({ until: 1_000_000 }),
      rejectWith(429, 'RATE_LIMITED'),
      zip({ until: 2_999_999 }),
      zip(),
    ];
    assert.equal(await client.batches.download(BATCH, path), ZIP.length);
    assert.ok((await readFile(path)).equals(ZIP));
    assert.equal(ranges.length, 6);
    assert.ok(ranges.slice(2).every((range) => /^bytes=\d{5,7}-$/.test(range ?? '')));
  });

  it('is of a zip, an item of a batch, or a job', async () => {
    steps = [zip(), zip(), zip()];
    for (const download of [
      () => client.batches.download(BATCH, path),
      () => client.batches.downloadItem(BATCH, 'a/1', path),
      () => client.download(BATCH, path),
    ]) {
      assert.equal(await download(), ZIP.length);
    }
    assert.deepEqual(urls, [
      `/v1/pdf/batch/${BATCH}/zip`,
      `/v1/pdf/batch/${BATCH}/a%2F1`,
      `/v1/pdf/jobs/${BATCH}/file`,
    ]);
  });

  it('never puts two different files together in a stream', async () => {
    const download = () => client.batches.download(BATCH, new WritableStream<Uint8Array>());
    steps = [zip({ until: 400_000 }), zip({ etag: '"another"' })];
    await assert.rejects(download(), (error: Error) => {
      assert.equal(error.name, 'PlatenConnectionError');
      assert.match(String(error.cause), /has changed/);
      return true;
    });
    steps = [zip({ until: 400_000, etag: null }), zip()];
    await assert.rejects(download(), { name: 'PlatenConnectionError' });
    assert.equal(steps.length, 1, 'no further request');
  });

  it('begins a file anew that cannot be resumed, three times at most', async () => {
    const broken = zip({ until: 400_000, etag: null });
    steps = [broken, zip({ until: 900_000 }), zip({ until: 400_000, etag: '"another"' }), zip()];
    assert.equal(await client.batches.download(BATCH, path), ZIP.length);
    assert.ok((await readFile(path)).equals(ZIP));
    assert.deepEqual(await readdir(folder), ['batch.zip']);
    await rm(path);
    steps = [broken, broken, broken, broken, zip()];
    await assert.rejects(client.batches.download(BATCH, path), (error: Error) => {
      assert.match(String(error.cause), /broke off each time/);
      return true;
    });
    assert.deepEqual(await readdir(folder), [], 'nothing is left of it');
  });

  it('ends with the error of the service, at once when it is final', async () => {
    for (const [status, code] of [
      [404, 'NOT_FOUND'],
      [410, 'GONE'],
    ] as const) {
      steps = [rejectWith(status, code), zip()];
      ranges = [];
      await assert.rejects(client.batches.download(BATCH, path), { status, code });
      assert.equal(ranges.length, 1);
    }
    steps = [];
    await assert.rejects(impatient.batches.download(BATCH, path), { name: 'ServerError', status: 500 });
    assert.ok(ranges.length > 3, 'tried again for a while');
    await assert.rejects(access(path));
  });

  it('goes at the pace of the stream it goes to, and closes it', async () => {
    steps = [zip()];
    const chunks: Uint8Array[] = [];
    let received = 0;
    let most = 0;
    let closed = false;
    const target = new WritableStream<Uint8Array>({
      async write(chunk) {
        await sleep(5);
        chunks.push(chunk);
        most = Math.max(most, received - Buffer.concat(chunks).length);
      },
      close() {
        closed = true;
      },
    });
    const onProgress = (progress: DownloadProgress) => {
      received = progress.received;
    };
    await client.batches.download(BATCH, target, { onProgress });
    assert.ok(Buffer.concat(chunks).equals(ZIP));
    assert.ok(closed);
    assert.ok(most < 300_000, `${most} bytes were held`);
  });

  it('ends at a signal, and with the error of a stream that takes no more', async () => {
    steps = [zip({ until: 400_000 })];
    const reason = new Error('enough');
    const controller = new AbortController();
    const onProgress = () => controller.abort(reason);
    await assert.rejects(client.batches.download(BATCH, path, { signal: controller.signal, onProgress }), {
      name: 'AbortError',
      cause: reason,
      jobId: BATCH,
    });
    assert.deepEqual(await readdir(folder), []);
    steps = [zip()];
    const full = new Error('no space left');
    const target = new WritableStream<Uint8Array>({ write: () => Promise.reject(full) });
    await assert.rejects(client.batches.download(BATCH, target), full);
    steps = [zip()];
    await assert.rejects(client.batches.download(BATCH, join(folder, 'nowhere', 'batch.zip')), {
      code: 'ENOENT',
    });
  });
});
