import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { PDFDocument } from '@cantoo/pdf-lib';
import { Agent, fetch as undiciFetch } from 'undici';
import {
  type ConnectionOptions,
  PlatenClient,
  PlatenConnectionError,
  PlatenDeadlineError,
} from '../../../clients/typescript/src/index.ts';
import { readPdf } from '../../support/pdf.ts';
import { sharedStandaloneService, type Tenant, type TestService } from '../../support/service.ts';
import { watched } from './watched.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';
/** Longer than any call here waits. */
const SLOW = { html: '<p>slow</p>', options: { delayMs: 20_000 } };

async function fieldsOf(pdf: Uint8Array): Promise<number> {
  return (await PDFDocument.load(pdf)).getForm().getFields().length;
}

/** No index signature, as types of callers are. */
interface Letter {
  readonly name: string;
}

describe('calls of the TypeScript client', () => {
  let service: TestService;
  let tenant: Tenant;
  let client: PlatenClient;
  let folder: string;

  before(async () => {
    service = await sharedStandaloneService();
    folder = await mkdtemp(join(tmpdir(), 'platen-calls-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    tenant = await service.newTenant('business');
    client = clientWith();
  });

  function clientWith(options: Partial<ConnectionOptions> = {}): PlatenClient {
    return new PlatenClient({ baseUrl: service.url, apiKey: tenant.client.key, ...options });
  }
  const statusOf = async (jobId: string) => (await client.job(jobId)).status;

  it('take address and key from the environment', async () => {
    process.env.PLATEN_URL = `${service.url}/`;
    process.env.PLATEN_API_KEY = tenant.client.key;
    try {
      assert.equal((await new PlatenClient().render({ html: '<p>x</p>' })).pages, 1);
    } finally {
      delete process.env.PLATEN_URL;
      delete process.env.PLATEN_API_KEY;
    }
    const url = new URL(service.url);
    assert.equal((await clientWith({ baseUrl: url }).render({ html: '<p>x</p>' })).pages, 1);
  });

  it('change PDFs that exist, and say whether they hold', async () => {
    const html = '<title>Order</title><label>Name <input name="name"></label>';
    const order = await client.render({ html, options: { forms: true } });
    const filled = await client.fill({ pdf: order.bytes, values: { name: 'Ada' } });
    const flat = await client.flatten({ jobId: filled.jobId }, { cancelOnAbort: true });
    assert.match((await readPdf(flat.bytes)).text, /Ada/);
    assert.equal(await fieldsOf(filled.bytes), 1);
    assert.equal(await fieldsOf(flat.bytes), 0);
    const options = { conformance: { pdfa: '2b' } } as const;
    const archived = await client.convert({ pdf: flat.bytes, filename: 'order', options });
    assert.equal((await client.job(archived.jobId)).inputMode, 'pdf');
    const { holds, claims } = await client.validate({ pdf: archived.bytes });
    assert.deepEqual([holds, claims.pdfa], [true, '2b']);
    assert.equal((await client.validate({ jobId: order.jobId })).claims.pdfa, null);
    const unknown = client.fill({ pdf: order.bytes, values: { missing: 'x' } });
    await assert.rejects(unknown, { name: 'PlatenJobError', code: 'FORM_FIELD_UNKNOWN' });
    await assert.rejects(client.flatten({} as { jobId: string }), TypeError);
  });

  it('are one conversion by one idempotency key, and by none where a connection breaks', async () => {
    const { jobId } = await client.render({ html: '<p>x</p>' });
    const [first, second] = await Promise.all([
      client.convert({ jobId }, { idempotencyKey: 'once' }),
      client.convert({ jobId }, { idempotencyKey: 'once' }),
    ]);
    assert.equal(first.jobId, second.jobId);
    let breaks = 1;
    const losing = clientWith({
      retry: { firstMs: 1, longestMs: 1 },
      async fetch(request) {
        const response = await fetch(request);
        if (request.method !== 'POST' || breaks-- <= 0) return response;
        throw new TypeError('The connection broke.');
      },
    });
    const third = await losing.convert({ jobId });
    const all: string[] = [];
    for await (const job of client.jobs()) all.push(job.jobId);
    assert.deepEqual(all.toSorted(), [jobId, first.jobId, third.jobId].toSorted());
  });

  it('are refused at once where the address is none, or the key is missing', () => {
    for (const baseUrl of ['localhost:8080', 'pdf.example.com', 'ftp://example.com', ''])
      assert.throws(() => clientWith({ baseUrl }), TypeError, baseUrl);
    assert.throws(() => new PlatenClient({ baseUrl: service.url }), /PLATEN_API_KEY/);
  });

  it('end soon at an address that leads nowhere, and name it with the reason', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const baseUrl = `http://127.0.0.1:${port}`;
    const { statuses, fetch } = watched();
    // By its usual patience of two minutes it would take ten tries.
    await assert.rejects(clientWith({ baseUrl, fetch }).job(NOWHERE), (error: unknown) => {
      assert.ok(error instanceof PlatenConnectionError);
      assert.match(error.message, new RegExp(`${baseUrl} after \\d attempts?: .*ECONNREFUSED`));
      assert.equal(error.jobId, NOWHERE);
      return true;
    });
    assert.ok(statuses.length > 1 && statuses.length < 7, `${statuses.length} tries`);
  });

  it('do not try again where a server does not speak TLS, and on a port that fetch does not connect to', async () => {
    const { statuses, fetch } = watched();
    for (const [baseUrl, reason] of [
      [service.url.replace('http:', 'https:'), /SSL.*\S$/],
      ['http://127.0.0.1:6000', /bad port$/],
    ] as const) {
      const call = clientWith({ baseUrl, fetch }).job(NOWHERE);
      await assert.rejects(call, { name: 'PlatenConnectionError', message: reason });
    }
    assert.deepEqual(statuses, ['none', 'none']);
  });

  it('are sent by a fetch of the package undici, as the README has it', async () => {
    const readme = await readFile(new URL('../../../clients/typescript/README.md', import.meta.url), 'utf8');
    const [, method] = /^ {2}async fetch(\(request\) \{\n.*?^ {2}\}),$/ms.exec(readme)!;
    const dispatcher = new Agent();
    let sent = 0;
    const noted: typeof undiciFetch = (...args) => {
      sent += 1;
      return undiciFetch(...args);
    };
    const ofReadme = new Function('fetch', 'dispatcher', `return async function ${method}`);
    const own = clientWith({ fetch: ofReadme(noted, dispatcher) });
    const { jobId, bytes } = await own.render({ html: '<p>by undici</p>' });
    assert.deepEqual(new Uint8Array(await new Response(await own.stream(jobId)).arrayBuffer()), bytes);
    assert.equal(sent, 2);
    await dispatcher.close();
  });

  it('take data of any type, and the address of a callback', async () => {
    const { templateId } = await service.saveTemplate(tenant, '<p>Dear {{ name }}</p>');
    const letter: Letter = { name: 'Ada' };
    const idempotencyKey: string | undefined = undefined;
    const pdf = await client.render({ templateId, data: letter }, { idempotencyKey });
    assert.match((await readPdf(pdf.bytes)).text, /Dear Ada/);
    const { jobId } = await client.renderAsync({
      templateId,
      data: letter,
      webhookUrl: 'https://127.0.0.1/ended',
    });
    assert.equal((await client.waitFor(jobId)).status, 'completed');
    const batch = await client.batches.create({
      items: ['a', 'b'].map((id) => ({ id, templateId, data: letter })),
    });
    assert.equal((await client.batches.wait(batch.jobId)).progress.completed, 2);
  });

  it('download a batch as one PDF, and have its manifest and the addresses of its items', async () => {
    const items = ['a', 'b', 'c'].map((id) => ({ id, html: `<p>item ${id}</p>` }));
    const { jobId } = await client.batches.create({ items });
    const progress: number[] = [];
    await client.batches.wait(jobId, {
      onProgress: ({ progress: { completed } }) => progress.push(completed),
    });
    assert.deepEqual(progress, [...new Set(progress)], 'nothing is reported twice');
    const path = join(folder, 'merged.pdf');
    const size = await client.batches.downloadMerged(jobId, path);
    const merged = await readFile(path);
    assert.equal(merged.length, size);
    assert.equal((await readPdf(new Uint8Array(merged))).pages.length, 3);
    const streamed = await new Response(await client.batches.streamMerged(jobId)).arrayBuffer();
    assert.ok(merged.equals(Buffer.from(streamed)));
    const zip = new Uint8Array(await new Response(await client.batches.stream(jobId)).arrayBuffer());
    assert.deepEqual([...zip.subarray(0, 2)], [0x50, 0x4b]);
    const item = await new Response(await client.batches.streamItem(jobId, 'b')).arrayBuffer();
    assert.match((await readPdf(new Uint8Array(item))).text, /item b/);
    const { items: listed } = await client.batches.manifest(jobId);
    assert.deepEqual(
      listed.map(({ itemId, fileName, status, pages }) => [itemId, fileName, status, pages]),
      items.map(({ id }) => [id, `${id}.pdf`, 'completed', 1]),
    );
    const { url } = await client.batches.downloadUrl(jobId, 'b');
    assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(Buffer.from(item)));
    await assert.rejects(client.batches.manifest(NOWHERE), { name: 'NotFoundError', jobId: NOWHERE });
  });

  it('stream a PDF into a response, and refuse before it begins', async () => {
    const { jobId, bytes } = await client.render({ html: '<p>streamed</p>' });
    const response = new Response(await client.stream(jobId), {
      headers: { 'content-type': 'application/pdf' },
    });
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
    await assert.rejects(client.stream(NOWHERE), { name: 'NotFoundError', status: 404, jobId: NOWHERE });
    const { seen, client: watchedClient } = withSignals();
    const stream = await watchedClient.stream(jobId);
    await stream.cancel();
    assert.deepEqual(
      seen.map(({ aborted }) => aborted),
      [true],
      'its connection is closed',
    );
  });

  /** A client with the signals of its requests. */
  function withSignals() {
    const seen: AbortSignal[] = [];
    const fetchSeen = (request: Request) => {
      seen.push(request.signal);
      return fetch(request);
    };
    return { seen, client: clientWith({ fetch: fetchSeen }) };
  }

  it('download to streams of Node, whose errors are those of the download', async () => {
    const { jobId, bytes } = await client.render({ html: '<p>node</p>' });
    const path = join(folder, 'node.pdf');
    assert.equal(await client.download(jobId, createWriteStream(path)), bytes.length);
    assert.ok((await readFile(path)).equals(bytes));
    const nowhere = createWriteStream(join(folder, 'nowhere', 'node.pdf'));
    await assert.rejects(client.download(jobId, nowhere), { code: 'ENOENT' });
    const refused = new PassThrough();
    await assert.rejects(client.download(NOWHERE, refused), { status: 404 });
    assert.ok(refused.destroyed);
  });

  it('name their job when their time is over', async () => {
    const { jobId } = await client.renderAsync(SLOW);
    for (const call of [
      client.waitFor(jobId, { timeoutMs: 300 }),
      client.result(jobId, { timeoutMs: 300 }),
      client.result(jobId, { signal: AbortSignal.timeout(300) }),
    ])
      await assert.rejects(call, { jobId });
    await assert.rejects(client.waitFor(jobId, { timeoutMs: 1 }), PlatenDeadlineError);
    assert.match(await statusOf(jobId), /queued|processing/);
    await assert.rejects(client.waitFor(jobId, { timeoutMs: 300, cancelOnAbort: true }), { jobId });
    assert.equal(await statusOf(jobId), 'cancelled');
  });

  it('cancel what they have begun when they are told to end', async () => {
    const controller = new AbortController();
    const { statuses, fetch } = watched();
    const call = clientWith({ fetch }).render(SLOW, { signal: controller.signal, cancelOnAbort: true });
    setTimeout(() => controller.abort(), 500);
    let jobId = '';
    await assert.rejects(call, (error: { name: string; jobId: string }) => {
      jobId = error.jobId;
      return error.name === 'AbortError';
    });
    assert.equal(statuses[0], 202, 'submitted to the background');
    assert.equal(await statusOf(jobId), 'cancelled');
    const items = ['a', 'b'].map((id) => ({ id, ...SLOW }));
    const batch = await client.batches.create({ items });
    await assert.rejects(client.batches.wait(batch.jobId, { timeoutMs: 300, cancelOnAbort: true }), {
      name: 'TimeoutError',
      jobId: batch.jobId,
    });
    assert.equal((await client.batches.get(batch.jobId)).status, 'cancelled');
  });

  it('cancel a render whose submission had no response yet', async () => {
    const controller = new AbortController();
    let isFirst = true;
    const losing = async (request: Request) => {
      const response = await fetch(request.clone());
      if (!isFirst) return response;
      isFirst = false;
      // The service has taken it, and its caller does not know.
      controller.abort();
      return new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        if (request.signal.aborted) reject(request.signal.reason);
      });
    };
    const call = clientWith({ fetch: losing }).render(SLOW, {
      signal: controller.signal,
      cancelOnAbort: true,
    });
    await assert.rejects(call, { name: 'AbortError' });
    const jobs = [];
    for await (const { status } of client.jobs()) jobs.push(status);
    assert.deepEqual(jobs, ['cancelled']);
  });
});
