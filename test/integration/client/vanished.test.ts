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
import { ServiceClient } from '../../../src/cli/service-client.ts';
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
describe('a caller whose server vanishes', function () {
  this.timeout(60_000);
  let server: VanishingServer;
  let folder: string;
  /** Answers begin, and do not go on. */
  let halfAnswers: number;

  function answer({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    if (url.endsWith('/zip') || url.endsWith('/file') || url === '/v1/pdf') {
      const headers = {
        'content-type': 'application/pdf',
        'content-length': PDF.length,
        'x-service-job-id': JOB,
      };
      response.writeHead(200, { ...headers, etag: '"one"' });
      if (halfAnswers > 0) response.write(PDF.subarray(0, 9));
      else response.end(PDF);
      halfAnswers -= 1;
      return;
    }
    response.writeHead(method === 'POST' ? 202 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jobId: JOB, status: 'completed' }));
  }

  // What only the garbage collector would keep together falls apart in a wait of 45 s: here it is made to come by.
  let collecting: NodeJS.Timeout;
  before(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collecting = setInterval(collect, 100);
  });
  after(() => clearInterval(collecting));
  // Of its own for each case: connections to an address are kept for the whole process.
  beforeEach(async () => {
    server = await VanishingServer.start(answer);
    halfAnswers = 0;
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

  /** Of what was asked since the last call: who asked under which name, over how many connections. */
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
      assert.deepEqual([count, keys.length, bodies.length, connections], [2, 1, 1, 2]);
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

    it('leaves an answer that does not go on, and downloads what is missing', async () => {
      halfAnswers = 1;
      assert.deepEqual(Buffer.from((await client().render(INPUT)).bytes), PDF);
      const path = join(folder, 'a.zip');
      await lose();
      asked();
      await client().batches.download(JOB, path);
      assert.ok((await readFile(path)).equals(PDF));
      assert.equal(asked().count, 2);
    });

    it('names an order by the plain routes as well, and repeats no other POST', async () => {
      const api = createApi({ baseUrl: server.url, apiKey: 'sk_live_x', retry: RETRY });
      await api.GET('/v1/pdf/jobs');
      await lose();
      asked();
      const { response } = await api.POST('/v1/pdf/batch', { body: { items: [{ id: 'a', ...INPUT }] } });
      const { count, keys } = asked();
      assert.deepEqual([response.status, count, keys.length], [202, 2, 1]);
      assert.match(keys[0] ?? '', /^[0-9a-f-]{36}$/);
      await lose();
      await assert.rejects(api.POST('/user/api-keys', { body: { name: 'key' } }), {
        name: 'PlatenConnectionError',
      });
      assert.deepEqual(asked(), { count: 1, keys: [undefined], bodies: ['{"name":"key"}'], connections: 1 });
    });
  });

  describe('at the command line', () => {
    const client = () => {
      const environment = { PLATEN_URL: server.url, PLATEN_API_KEY: 'sk_live_x' };
      return new ServiceClient(environment, { answerMs: 700, silenceMs: 700 });
    };

    it('leaves its connections, and orders over another one under the same name', async () => {
      const service = client();
      await Promise.all(Array.from({ length: 3 }, () => service.json('v1/pdf/jobs')));
      const lost = await lose();
      assert.ok(lost.length > 1, `${lost.length} connections are kept`);
      asked();
      const order = { method: 'POST', body: { items: [] }, idempotencyKey: 'order-1' } as const;
      assert.deepEqual(await service.json('v1/pdf/batch', order), { jobId: JOB, status: 'completed' });
      // One try is lost, however many connections were kept.
      assert.deepEqual(asked(), { count: 2, keys: ['order-1'], bodies: ['{"items":[]}'], connections: 2 });
      await eventually('they are closed', async () => lost.every(({ destroyed }) => destroyed));
    });

    it('begins a download anew that does not go on', async () => {
      const path = join(folder, 'a.pdf');
      await writeFile(path, 'old');
      halfAnswers = 1;
      await client().save(`v1/pdf/jobs/${JOB}/file`, path);
      assert.ok((await readFile(path)).equals(PDF));
      assert.equal(asked().count, 2);
    });
  });
});
