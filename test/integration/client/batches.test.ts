import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchStanding,
  type ConnectionOptions,
  type Fetch,
  type PlatenApiError,
  PlatenClient,
} from '../../../clients/typescript/src/index.ts';
import { openStandaloneService, type Tenant, type TestService } from '../../support/service.ts';
import { unzipFile } from '../../support/unzip.ts';

/** Items of which some take a moment, so that progress can be seen. */
function items(count: number, delayMs = 0) {
  return Array.from({ length: count }, (_, i) => ({
    id: `item-${i}`,
    html: `<p>${i}</p>`,
    options: { delayMs },
  }));
}

describe('batches of the TypeScript client', () => {
  let service: TestService;
  let tenant: Tenant;
  let client: PlatenClient;

  before(async () => {
    service = await openStandaloneService();
  });
  after(() => service?.stop());
  beforeEach(async () => {
    tenant = await service.newTenant('business');
    client = clientWith();
  });

  function clientWith(options: Partial<ConnectionOptions> = {}): PlatenClient {
    return new PlatenClient({ baseUrl: service.url, apiKey: tenant.client.key, ...options });
  }

  /** A client whose requests are seen, and some of which are treated otherwise. */
  function watched(treat: (request: Request, response: () => Promise<Response>) => Promise<Response>) {
    const seen: { path: string; lastEventId: string | null }[] = [];
    const fetch: Fetch = (request) => {
      const { pathname } = new URL(request.url);
      seen.push({ path: pathname, lastEventId: request.headers.get('last-event-id') });
      return treat(request, () => globalThis.fetch(request));
    };
    return { seen, client: clientWith({ fetch }) };
  }
  const isEvents = ({ url }: Request) => url.endsWith('/events');

  it('of the rows of a file are uploaded in any form, proved, paused, resumed and released', async () => {
    const { templateId } = await service.saveTemplate(tenant, '<p>{{ name }}</p>');
    const text = 'id,name\na,Ada\nb,Grace\nc,Barbara\n';
    for (const file of [text, Buffer.from(text), new Blob([text]), new Blob([text]).stream()]) {
      const { id, bytes } = await client.batches.upload(file, 'csv');
      assert.equal(bytes, text.length);
      const source = { upload: id, format: 'csv', templateId } as const;
      const { jobId } = await client.batches.create({ source, proof: 1 });
      assert.equal((await client.batches.pause(jobId)).source?.state, 'paused');
      await client.batches.resume(jobId);
      const released = await client.batches.release(jobId);
      assert.notEqual(released.source?.releasedAt, null);
      const { progress } = await client.batches.wait(jobId);
      assert.deepEqual([progress.completed, progress.total], [3, 3]);
    }
  });

  it('are submitted, followed to their end and listed', async () => {
    const { seen, client } = watched((_, response) => response());
    const input = {
      items: [
        ...items(7, 700),
        { id: 'bad', html: 'x', options: { waitForSelector: '#n', timeoutMs: 1000 } },
      ],
      notes: 'monthly',
      metadata: { run: '7' },
    };
    const { jobId, totalCount } = await client.batches.create(input);
    assert.equal(totalCount, 8);
    const reported: BatchStanding[] = [];
    const batch = await client.batches.wait(jobId, { onProgress: (standing) => reported.push(standing) });
    assert.deepEqual([batch.status, batch.progress.completed, batch.progress.failed], ['completed', 7, 1]);
    assert.equal(batch.job.notes, 'monthly');
    assert.ok(reported.length >= 3, `${reported.length} times`);
    assert.deepEqual(reported.at(-1)?.progress, batch.progress);
    assert.equal(reported.at(-1)?.status, 'completed');
    const checks = seen.filter(({ path }) => path === `/v1/pdf/batch/${jobId}`).length;
    assert.equal(checks, 1, 'nobody polls');

    const statuses = [];
    for await (const item of client.batches.items(jobId)) statuses.push(`${item.itemId} ${item.status}`);
    assert.deepEqual(statuses, [...items(7).map(({ id }) => `${id} completed`), 'bad failed']);
    const page = await client.batches.get(jobId, { limit: 2, offset: 6 });
    assert.deepEqual(
      page.items.map(({ itemId, error }) => [itemId, error?.code]),
      [
        ['item-6', undefined],
        ['bad', 'SELECTOR_TIMEOUT'],
      ],
    );
    const listed = [];
    for await (const one of client.batches.list({ status: 'completed' })) listed.push(one.jobId);
    assert.deepEqual(listed, [jobId]);
  });

  it('are one for one idempotency key, and rejected with all of their errors', async () => {
    const idempotencyKey = randomUUID();
    const calls = [1, 2].map(() => client.batches.create({ items: items(2) }, { idempotencyKey }));
    const [first, second] = await Promise.all(calls);
    assert.equal(first?.jobId, second?.jobId);
    const faulty = {
      items: [
        { id: 'a', html: 'x', options: { scale: 9 } },
        { id: 'a', html: 'x' },
      ],
    };
    await assert.rejects(client.batches.create(faulty), (error: PlatenApiError) => {
      assert.deepEqual([error.status, error.code, error.messages.length], [400, 'VALIDATION', 2]);
      return true;
    });
    await assert.rejects(client.batches.wait(randomUUID()), { name: 'NotFoundError', status: 404 });
  });

  it('are followed from where a broken connection had got to', async () => {
    const { seen, client } = watched(async (request, response) => {
      if (!isEvents(request)) return response();
      // One event for each connection, unless it is the end.
      const { body, headers } = await response();
      return new Response(breaksAfterOneEvent(body!), { headers });
    });
    const { jobId } = await client.batches.create({ items: items(8, 1000) });
    const reported: number[] = [];
    const onProgress = ({ progress }: BatchStanding) => reported.push(progress.completed);
    assert.equal((await client.batches.wait(jobId, { onProgress })).status, 'completed');
    const connections = seen.filter(({ path }) => path.endsWith('/events'));
    assert.ok(connections.length >= 3, `${connections.length} connections`);
    assert.equal(connections[0]?.lastEventId, null);
    for (const { lastEventId } of connections.slice(1)) assert.match(lastEventId ?? '', /^\d+-\w+$/);
    assert.deepEqual(
      reported,
      [...reported].sort((a, b) => a - b),
    );
  });

  it('are polled where no events are available', async () => {
    for (const rejection of [404, 502]) {
      const { seen, client } = watched(async (request, response) =>
        isEvents(request) ? new Response('<h1>not here</h1>', { status: rejection }) : response(),
      );
      const { jobId } = await client.batches.create({ items: items(4, 500) });
      const reported: BatchStanding[] = [];
      const batch = await client.batches.wait(jobId, { onProgress: (standing) => reported.push(standing) });
      assert.equal(batch.progress.completed, 4);
      assert.equal(reported.at(-1)?.progress.completed, 4);
      const asked = seen.filter(({ path }) => path.endsWith('/events')).length;
      if (rejection === 404) assert.equal(asked, 1, 'what is not there is not asked for again');
    }
  });

  it('are downloaded as one zip, to a path and to a stream, whatever breaks off', async () => {
    let connections = 0;
    const { client: breaking } = watched(async (request, response) => {
      if (!request.url.endsWith('/zip')) return response();
      connections += 1;
      const { body, headers, status } = await response();
      return new Response(connections > 4 ? body : body!.pipeThrough(breaksAfter(20_000)), {
        headers,
        status,
      });
    });
    const input = { items: items(40) };
    const { jobId } = await breaking.batches.create(input);
    await breaking.batches.wait(jobId);
    const folder = await mkdtemp(join(tmpdir(), 'platen-client-'));
    try {
      const path = join(folder, 'batch.zip');
      const size = await breaking.batches.download(jobId, path);
      assert.ok(connections >= 3, `${connections} connections`);
      const names = (await unzipFile(path)).map(({ name }) => name);
      assert.deepEqual(
        names,
        input.items.map(({ id }) => `${id}.pdf`),
      );
      const chunks: Uint8Array[] = [];
      await client.batches.download(jobId, new WritableStream({ write: (chunk) => void chunks.push(chunk) }));
      assert.ok(Buffer.concat(chunks).equals(await readFile(path)));
      assert.equal(Buffer.concat(chunks).length, size);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await assert.rejects(client.batches.download(randomUUID(), 'nowhere.zip'), { status: 404 });
  });

  it('are waited for across a restart of the service', async () => {
    const { jobId } = await client.batches.create({ items: items(12, 500) });
    const waiting = client.batches.wait(jobId);
    await sleep(700);
    await service.roles.get('standalone')!.end();
    await service.restart('standalone');
    assert.equal((await waiting).progress.completed, 12);
  });

  it('are cancelled, also twice, and waiting for them ends at a signal', async () => {
    const { jobId } = await client.batches.create({ items: items(60, 300) });
    const reason = new Error('enough');
    const controller = new AbortController();
    const waiting = client.batches.wait(jobId, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 300);
    await assert.rejects(waiting, { name: 'AbortError', cause: reason, jobId });
    assert.equal((await client.batches.cancel(jobId)).status, 'cancelled');
    assert.equal((await client.batches.cancel(jobId)).status, 'cancelled');
    const batch = await client.batches.wait(jobId);
    assert.equal(batch.status, 'cancelled');
    assert.ok(batch.progress.failed > 0);
    const { jobId: whole } = await client.batches.create({ items: items(2) });
    await client.batches.wait(whole);
    await assert.rejects(client.batches.cancel(whole), { name: 'ConflictError', code: 'JOB_ENDED' });
  });
});

/** Passes one event on and breaks off as soon as it has been read, unless it is the end. */
function breaksAfterOneEvent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let breaks = false;
  return new ReadableStream(
    {
      async pull(controller) {
        if (breaks) {
          controller.error(new Error('broken off'));
          return reader.cancel();
        }
        const { value } = await reader.read();
        if (value === undefined) return controller.close();
        const text = Buffer.from(value).toString();
        breaks = text.includes('event: ') && !text.includes('event: end');
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead of whoever reads.
    { highWaterMark: 0 },
  );
}

/** Passes so many bytes on, and then breaks off. */
function breaksAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= Math.min(left, chunk.byteLength);
      if (left === 0) controller.error(new Error('broken off'));
    },
  });
}
