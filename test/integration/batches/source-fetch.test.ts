import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MAX_SOURCE_BYTES } from '../../../src/work/batches/source/source-files.ts';
import { useDomain } from '../../support/domain.ts';
import { csvOf, Sourced, submissionOf } from './sourced.ts';

const ROWS = 150;

describe('The file of a batch that is fetched', () => {
  const domain = useDomain({ plan: { concurrentRenders: 6, maxBatchItems: 1000, monthlyRenders: 100_000 } });
  let sourced: Sourced;
  let server: Server;
  let requests: number;
  beforeEach(() => {
    sourced = new Sourced(domain);
    requests = 0;
  });
  afterEach(async () => {
    await sourced.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** @returns the address of a server. */
  async function serve(listener: RequestListener): Promise<string> {
    server = createServer((request, response) => {
      requests += 1;
      listener(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows.csv`;
  }

  /** Lets every pause of a failing reader pass. */
  async function finished(url: string) {
    const batch = await sourced.submit(submissionOf({ url }));
    const timer = setInterval(() => domain.clock.pass(5000), 50);
    try {
      return await sourced.finish(batch._id);
    } finally {
      clearInterval(timer);
    }
  }

  it('is fetched once, however slowly it comes, and whatever becomes of it later', async () => {
    const text = csvOf(ROWS);
    const url = await serve(async (_, response) => {
      for (let at = 0; at < text.length; at += 500) {
        response.write(text.slice(at, at + 500));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      response.end();
    });
    const { _id } = await sourced.submit(submissionOf({ url }));
    await sourced.readUntil(_id, 'rows are items', ({ source }) => source!.read > 0);
    // What it says now is another file: the batch has its own.
    server.closeAllConnections();
    server.close();
    const batch = await sourced.finish(_id);
    assert.deepEqual([batch.phase, batch.total, requests], ['completed', ROWS, 1]);
    assert.deepEqual([new Set(sourced.rendered).size, await sourced.charged()], [ROWS, ROWS]);
    await sourced.assertNothingKept();
  });

  it('is fetched again when a response breaks off, and no row comes from the broken one', async () => {
    const url = await serve((_, response) => {
      if (requests > 2) return void response.end(csvOf(ROWS));
      response.writeHead(200, { 'content-length': '100000' });
      response.write(csvOf(3, 900));
      setTimeout(() => response.destroy(), 50);
    });
    const batch = await finished(url);
    assert.deepEqual([batch.phase, batch.total, requests], ['completed', ROWS, 3]);
    assert.ok(sourced.rendered.every((id) => Number(id.slice(4)) <= ROWS));
  });

  it('is read of redirects, each of which is checked', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/rows.csv') return void response.writeHead(302, { location: '/other' }).end();
      response.end(csvOf(3));
    });
    assert.equal((await finished(url)).total, 3);
  });

  for (const [what, target, code] of [
    ['a private address', 'http://10.0.0.1/rows.csv', 'URL_BLOCKED'],
    ['the addresses of clouds', 'http://169.254.169.254/latest/meta-data/', 'URL_BLOCKED'],
    ['this machine by another name', 'http://[::ffff:10.1.2.3]/', 'URL_BLOCKED'],
    ['a file', 'file:///etc/passwd', 'INVALID_URL'],
    ['itself for ever', '/rows.csv', 'URL_UNREACHABLE'],
  ] as const) {
    it(`is not read of a redirect to ${what}`, async () => {
      const url = await serve((_, response) => response.writeHead(302, { location: target }).end());
      const batch = await finished(url);
      assert.deepEqual([batch.phase, batch.total, batch.source?.error?.code], ['failed', 0, code]);
      await sourced.assertNothingKept();
    });
  }

  for (const [what, respond, code, asked] of [
    ['is not there', (response) => response.writeHead(404).end(), 'URL_UNREACHABLE', 1],
    ['cannot be sent for long', (response) => response.writeHead(503).end(), 'URL_UNREACHABLE', 5],
    [
      'says that it is huge',
      (response) => response.writeHead(200, { 'content-length': MAX_SOURCE_BYTES + 1 }).flushHeaders(),
      'INPUT_TOO_LARGE',
      1,
    ],
    [
      'is compressed',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'SOURCE_UNREADABLE',
      1,
    ],
  ] as const satisfies readonly (readonly [
    string,
    (response: Parameters<RequestListener>[1]) => unknown,
    string,
    number,
  ])[]) {
    it(`fails the batch when it ${what}, and leaves nothing behind`, async () => {
      const url = await serve((_, response) => void respond(response));
      const batch = await finished(url);
      assert.deepEqual([batch.phase, batch.total, batch.source?.error?.code], ['failed', 0, code]);
      assert.equal(requests, asked);
      await sourced.assertNothingKept();
      assert.ok((await domain.stored.of(sourced.caller.accountId)) < 10_000, 'its storage is given back');
    });
  }

  it('counts against what the account may store, and leaves nothing behind when it does not fit', async () => {
    const kept = domain.plan.maxStoredBytes;
    Object.assign(domain.plan, { maxStoredBytes: 2_000_000 });
    try {
      const url = await serve((_, response) => void response.end(`id\n${'x'.repeat(99)}\n`.repeat(40_000)));
      // The clock stands, so that no lease ends meanwhile.
      const { _id } = await sourced.submit(submissionOf({ url }));
      const batch = await sourced.finish(_id);
      assert.deepEqual([batch.phase, batch.source?.error?.code, requests], ['failed', 'STORAGE_FULL', 1]);
      await sourced.assertNothingKept();
    } finally {
      Object.assign(domain.plan, { maxStoredBytes: kept });
    }
  });
});
