import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApi, PlatenClient } from '../../../clients/typescript/src/index.ts';
import { openClient } from '../../../src/cli/open-client.ts';
import { eventually } from '../../support/eventually.ts';
import { VanishingServer } from '../../support/vanishing-server.ts';

const JOB = '3f0e1c58-8a11-4a53-9a0b-1c1f1d4c9a11';
const PDF = Buffer.from('%PDF-1.7 and so on, at some length');
const INPUT = { html: '<p>x</p>' };
const RETRY = {
  firstMs: 20,
  longestMs: 100,
  giveUpAfterMs: 60_000,
  answerTimeoutMs: 700,
  silenceTimeoutMs: 700,
};

/** A server that is lost without a word, while callers keep connections to it. */
describe('a caller whose server vanishes', () => {
  let server: VanishingServer;
  let folder: string;
  /** Answers begin, and do not go on. */
  let halfResponses: number;

  function reply({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    if (url.endsWith('/zip') || url.endsWith('/file') || url === '/v1/pdf') {
      const headers = {
        'content-type': 'application/pdf',
        'content-length': PDF.length,
        'x-service-job-id': JOB,
      };
      response.writeHead(200, { ...headers, etag: '"one"' });
      if (halfResponses > 0) response.write(PDF.subarray(0, 9));
      else response.end(PDF);
      halfResponses -= 1;
      return;
    }
    response.writeHead(method === 'POST' ? 202 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jobId: JOB, status: 'completed' }));
  }

  // What only the garbage collector would keep together falls apart in a wait of 45 s: here it is made to come by.
  let collecting: NodeJS.Timeout;
  before(() => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const collect = () => {
      gc();
      // From the end of it: in a process that has much to keep it takes long, and the test needs time as well.
      collecting = setTimeout(collect, 400);
    };
    collect();
  });
  after(() => clearTimeout(collecting));
  // Of its own for each case: connections to an address are kept for the whole process.
  beforeEach(async () => {
    server = await VanishingServer.start(reply);
    halfResponses = 0;
    folder = await mkdtemp(join(tmpdir(), 'platen-vanished-'));
  });
  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** @returns the connections that were kept and lead nowhere now. */
  async function lose(): Promise<readonly Socket[]> {
    // A connection is free a moment after its answer has been read.
    await sleep(50);
    return server.vanish();
  }

  /**
   * Of what was asked since the last call: who asked under which name, over how many connections. How often somebody asked
   * again is at least what was lost: on a machine that stands still a living server seems silent as well.
   */
  function asked() {
    const requests = server.seen.splice(0);
    return {
      count: requests.length,
      keys: [...new Set(requests.map(({ key }) => key))],
      bodies: [...new Set(requests.map(({ body }) => body))],
      connections: new Set(requests.map(({ socket }) => socket)).size,
    };
  }

  describe('with the TypeScript client', () => {
    const client = () => new PlatenClient({ baseUrl: server.url, apiKey: 'sk_live_x', retry: RETRY });

    it('leaves the connection, and renders over another one under the same name', async () => {
      await client().render(INPUT);
      const lost = await lose();
      assert.ok(lost.length > 0, 'a connection is kept');
      asked();
      const { bytes } = await client().render(INPUT);
      assert.deepEqual(Buffer.from(bytes), PDF);
      const { count, keys, bodies, connections } = asked();
      assert.ok(count >= 2, `${count} tries`);
      assert.deepEqual([keys.length, bodies.length, connections], [1, 1, count]);
      assert.match(keys[0] ?? '', /^[0-9a-f-]{36}$/);
      await eventually('the lost connection is closed', async () => lost.every(({ destroyed }) => destroyed));
    });

    it('does so with as many connections as it had kept, each of its calls by itself', async () => {
      const many = () => Promise.all(Array.from({ length: 4 }, () => client().render(INPUT)));
      await many();
      const lost = await lose();
      assert.ok(lost.length > 1, `${lost.length} connections are kept`);
      asked();
      for (const { bytes } of await many()) assert.deepEqual(Buffer.from(bytes), PDF);
      const { count, keys } = asked();
      assert.equal(keys.length, 4);
      assert.ok(count > 4, `${count} tries`);
      await eventually('they are closed', async () => lost.every(({ destroyed }) => destroyed));
    });

    it('abandons a response that stalls, and downloads the rest', async () => {
      halfResponses = 1;
      assert.deepEqual(Buffer.from((await client().render(INPUT)).bytes), PDF);
      const path = join(folder, 'a.zip');
      await lose();
      asked();
      await client().batches.download(JOB, path);
      assert.ok((await readFile(path)).equals(PDF));
      assert.ok(asked().count >= 2);
    });

    it('gives a submission by the plain routes a key as well, and retries no other POST', async () => {
      const api = createApi({ baseUrl: server.url, apiKey: 'sk_live_x', retry: RETRY });
      await api.GET('/v1/pdf/jobs');
      await lose();
      asked();
      const { response } = await api.POST('/v1/pdf/batch', { body: { items: [{ id: 'a', ...INPUT }] } });
      const { count, keys } = asked();
      assert.deepEqual([response.status, keys.length], [202, 1]);
      assert.ok(count >= 2, `${count} tries`);
      assert.match(keys[0] ?? '', /^[0-9a-f-]{36}$/);
      await lose();
      await assert.rejects(api.POST('/user/api-keys', { body: { name: 'key' } }), {
        name: 'PlatenConnectionError',
      });
      assert.deepEqual(asked(), { count: 1, keys: [undefined], bodies: ['{"name":"key"}'], connections: 1 });
    });
  });

  describe('at the command line', () => {
    const client = () => openClient({ PLATEN_URL: server.url, PLATEN_API_KEY: 'sk_live_x' }, RETRY);

    it('abandons its connections, and submits over another one with the same key', async () => {
      const service = client();
      await Promise.all(Array.from({ length: 3 }, () => service.api.GET('/v1/pdf/jobs')));
      const lost = await lose();
      assert.ok(lost.length > 1, `${lost.length} connections are kept`);
      asked();
      const { jobId } = await service.batches.create({ items: [] }, { idempotencyKey: 'order-1' });
      assert.equal(jobId, JOB);
      const { count, keys, bodies, connections } = asked();
      assert.ok(count >= 2, `${count} tries`);
      assert.deepEqual([keys, bodies, connections], [['order-1'], ['{"items":[]}'], count]);
      await eventually('they are closed', async () => lost.every(({ destroyed }) => destroyed));
    });

    it('begins a download anew that does not go on', async () => {
      const path = join(folder, 'a.pdf');
      await writeFile(path, 'old');
      halfResponses = 1;
      await client().download(JOB, path);
      assert.ok((await readFile(path)).equals(PDF));
      assert.ok(asked().count >= 2);
    });
  });
});
