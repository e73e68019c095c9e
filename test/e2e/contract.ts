import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import type { Tenant, TestService } from '../support/service.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** For what does not come: a busy machine comes as far as to wait for it. */
const WAITED_MS = 3000;

/**
 * What the service promises about single renders, over HTTP and with a real browser, whatever it is made of. Run
 * against one process with an in-process bus, and against three processes over Kafka.
 */
export function singleRenderContract(open: () => Promise<TestService>): void {
  let service: TestService;
  let tenant: Tenant;
  let client: TestClient;
  let stranger: TestClient;
  let pages: WebPages;
  before(async () => {
    service = await open();
    tenant = await service.newTenant('business');
    client = tenant.client;
    stranger = (await service.newTenant('business')).client;
    pages = await serveWebPages({
      '/page': '<title>A page</title><h1>Loaded over the network</h1>',
      '/slow': (_request, response) => {
        setTimeout(
          () => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>At last</h1>'),
          3000,
        );
      },
    });
  });
  after(async () => {
    await pages?.close();
    await service?.stop();
  });

  it('renders HTML and answers with the PDF', async () => {
    const reply = await client.render({ html: '<h1>Hello, reader</h1>', filename: 'Grüße 2026.pdf' });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'application/pdf');
    assert.match(reply.headers.get('x-service-job-id') ?? '', UUID);
    assert.equal(reply.headers.get('x-service-pages'), '1');
    assert.ok(Number(reply.headers.get('x-service-processing-time-ms')) > 0);
    assert.ok(Date.parse(reply.headers.get('x-service-expires-at') ?? '') > Date.now());
    assert.match(
      reply.headers.get('content-disposition') ?? '',
      /filename\*=UTF-8''Gr%C3%BC%C3%9Fe%202026\.pdf/,
    );
    assert.match((await readPdf(reply.bytes)).text, /Hello, reader/);
  });

  it('renders a web page from its address', async () => {
    const reply = await client.render({ url: `${pages.url}/page` });
    assert.equal(reply.status, 200);
    assert.match((await readPdf(reply.bytes)).text, /Loaded over the network/);
  });

  it('renders a saved template with data, and an older version when it is pinned', async () => {
    const saved = await service.saveTemplate(tenant, '<p>Dear {{customer.name}}, {{ note }}</p>');
    const data = { customer: { name: 'Ada' }, note: '<b>no markup</b>' };
    const reply = await client.render({ templateId: saved.templateId, data });
    assert.equal(reply.status, 200);
    assert.match((await readPdf(reply.bytes)).text, /Dear Ada, <b>no markup<\/b>/);
    const pinned = await client.render({
      templateId: saved.templateId,
      templateVersionId: saved.versionId,
      data,
    });
    assert.equal(pinned.status, 200);
    assert.equal((await stranger.render({ templateId: saved.templateId, data })).status, 404);
    assert.equal((await client.render({ templateId: randomUUID(), data })).status, 404);
  });

  it('answers with a link that needs no key, and leads to the same PDF', async () => {
    const reply = await client.render({ html: '<p>linked</p>', output: 'url', options: { format: 'A5' } });
    assert.equal(reply.status, 200);
    const { success, url, expiresAt, metadata } = reply.json;
    assert.equal(success, true);
    assert.deepEqual([metadata.mode, metadata.format], ['html', 'A5']);
    assert.ok(Date.parse(expiresAt) - Date.now() <= 15 * 60_000);
    const file = await fetch(url);
    assert.equal(file.status, 200);
    const bytes = new Uint8Array(await file.arrayBuffer());
    assert.equal(bytes.byteLength, metadata.size);
    assert.match((await readPdf(bytes)).text, /linked/);
    assert.equal((await fetch(`${url}x`)).status, 404);
  });

  it('takes a job in the background, and shows its whole record', async () => {
    const accepted = await client.render({ html: '<p>later</p>', executionMode: 'async', filename: 'later' });
    assert.equal(accepted.status, 202);
    const { jobId } = accepted.json;
    assert.deepEqual(accepted.json, {
      success: true,
      jobId,
      status: 'queued',
      statusUrl: `/v1/pdf/jobs/${jobId}`,
      fileUrl: `/v1/pdf/jobs/${jobId}/file`,
    });
    const record = await client.end(jobId);
    assert.deepEqual(
      {
        ...record,
        createdAt: 0,
        updatedAt: 0,
        completedAt: 0,
        outputExpiresAt: 0,
        pdfSize: 0,
        processingTimeMs: 0,
      },
      {
        success: true,
        jobId,
        status: 'completed',
        inputMode: 'html',
        outputMode: 'binary',
        createdAt: 0,
        updatedAt: 0,
        completedAt: 0,
        outputAvailable: true,
        outputExpiresAt: 0,
        downloadUrlEndpoint: `/v1/pdf/jobs/${jobId}/download-url`,
        fileName: 'later.pdf',
        pdfSize: 0,
        pages: 1,
        processingTimeMs: 0,
        attemptCount: 1,
        retryAttempt: null,
        maxAttempts: 3,
        willRetry: false,
        deadLettered: false,
        error: null,
      },
    );
    for (const field of ['createdAt', 'updatedAt', 'completedAt', 'outputExpiresAt']) {
      assert.equal(new Date(record[field]).toISOString(), record[field], field);
    }
    assert.ok(record.pdfSize > 500 && record.processingTimeMs > 0);
    const file = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
    assert.equal(file.status, 200);
    assert.equal(file.bytes.byteLength, record.pdfSize);
    const link = await client.call('GET', record.downloadUrlEndpoint);
    assert.equal(link.status, 200);
    assert.equal((await fetch(link.json.url)).status, 200);
  });

  it("answers 404 for the file until there is one, and for everything of another account's job", async () => {
    const jobId = await client.submit({ url: `${pages.url}/slow` });
    assert.equal((await client.call('GET', `/v1/pdf/jobs/${jobId}/file`)).status, 404);
    assert.equal((await client.call('GET', `/v1/pdf/jobs/${jobId}/download-url`)).status, 404);
    await client.end(jobId);
    assert.equal((await client.call('GET', `/v1/pdf/jobs/${jobId}/file`)).status, 200);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/file'],
      ['GET', '/download-url'],
      ['DELETE', ''],
    ] as const) {
      assert.equal(
        (await stranger.call(method, `/v1/pdf/jobs/${jobId}${path}`)).status,
        404,
        `${method} ${path}`,
      );
    }
    assert.equal((await stranger.call('GET', '/v1/pdf/jobs')).json.total, 0);
  });

  it('cancels a job that runs: it ends at once, and the render stops', async () => {
    const jobId = await client.submit({ html: '<script>for (;;);</script>', options: { timeoutMs: 60_000 } });
    const status = async () => (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status;
    await eventually('the job runs', async () => (await status()) === 'processing');
    const cancelled = await client.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    assert.equal(cancelled.status, 200);
    const record = await client.end(jobId);
    assert.deepEqual([record.status, record.error.code, record.willRetry], ['cancelled', 'CANCELLED', false]);
    assert.equal((await client.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 409);
    assert.equal((await client.render({ html: '<p>next</p>' })).status, 200);
  });

  it('lists jobs by status and page', async () => {
    const { client: lister } = await service.newTenant('business');
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) ids.push(await lister.submit({ html: `<p>${i}</p>` }));
    for (const id of ids) await lister.end(id);
    const failing = await lister.submit({
      html: '<p>x</p>',
      options: { waitForSelector: '#never', timeoutMs: WAITED_MS },
    });
    assert.equal((await lister.end(failing)).error.code, 'SELECTOR_TIMEOUT');
    const list = async (query: string) => (await lister.call('GET', `/v1/pdf/jobs?${query}`)).json;
    const completed = await list('status=completed&sort=created_asc&limit=2');
    assert.deepEqual([completed.total, completed.limit, completed.offset], [3, 2, 0]);
    assert.deepEqual(
      completed.jobs.map((job: { jobId: string }) => job.jobId),
      ids.slice(0, 2),
    );
    const second = await list('status=completed&sort=created_asc&limit=2&offset=2');
    assert.deepEqual(
      second.jobs.map((job: { jobId: string }) => job.jobId),
      ids.slice(2),
    );
    assert.deepEqual(
      (await list('status=failed')).jobs.map((job: { jobId: string }) => job.jobId),
      [failing],
    );
    assert.equal((await list('')).total, 4);
  });

  it("answers a document's fault with 400, its code and the job", async () => {
    const cases: [Record<string, unknown>, string][] = [
      [
        { html: '<p>x</p>', options: { waitForSelector: '#never', timeoutMs: WAITED_MS } },
        'SELECTOR_TIMEOUT',
      ],
      [{ url: `${pages.url}/missing` }, 'URL_UNREACHABLE'],
      [{ url: 'http://no-such-name.invalid/' }, 'URL_UNREACHABLE'],
      [{ url: 'http://169.254.169.254/latest/meta-data' }, 'URL_BLOCKED'],
    ];
    for (const [body, code] of cases) {
      const reply = await client.render(body);
      assert.deepEqual([reply.status, reply.json.code], [400, code], JSON.stringify(reply.json));
      assert.equal(reply.json.error, 'Bad Request');
    }
    const template = await service.saveTemplate(tenant, '{% for i in (1..100000000) %}{{ i }}{% endfor %}');
    const endless = await client.render({
      templateId: template.templateId,
      data: {},
      options: { timeoutMs: 5000 },
    });
    assert.deepEqual([endless.status, endless.json.code], [400, 'TEMPLATE_ERROR']);
    assert.match(endless.json.jobId, UUID);
  });

  it('answers 202 for a time-out that will be tried again, and dead-letters it after the second', async () => {
    const reply = await client.render({ html: '<script>for (;;);</script>', options: { timeoutMs: 1000 } });
    assert.equal(reply.status, 202);
    const record = await client.end(reply.json.jobId);
    assert.deepEqual(
      [record.status, record.error.code, record.deadLettered, record.attemptCount, record.retryAttempt],
      ['failed', 'RENDER_TIMEOUT', true, 2, 1],
    );
  });

  it('gives a test key a watermarked PDF', async () => {
    const { client: tester } = await service.newTenant('business', 'test');
    const reply = await tester.render({ html: '<p>trial</p>', options: { watermark: { text: 'MINE' } } });
    assert.equal(reply.status, 200);
    const { text } = await readPdf(reply.bytes);
    assert.match(text, /trial/);
    assert.match(text, /TEST/);
    assert.match(text, /MINE/);
  });

  it('renders a burst of two accounts at once: every PDF is its own', async () => {
    const work = Array.from({ length: 60 }, async (_, i) => {
      const who = i % 2 ? client : stranger;
      const mark = `mark-${i}-${randomUUID()}`;
      const render = () => who.renderToEnd({ html: `<p>${mark}</p>` });
      let reply = await render();
      // On a busy machine the database may take too long over so many at once: no job has been written then.
      while (reply.status === 503) {
        console.log(`      A render is requested again: ${reply.json.message}`);
        await sleep(1000 * Number(reply.headers.get('retry-after')));
        reply = await render();
      }
      assert.equal(reply.status, 200, Buffer.from(reply.bytes).toString().slice(0, 300));
      const { text, pages: sheets } = await readPdf(reply.bytes);
      assert.equal(sheets.length, 1);
      assert.ok(text.replaceAll(/\s/g, '').includes(mark.replaceAll(/\s/g, '')), mark);
    });
    await Promise.all(work);
  });

  it('tells its health and its figures', async () => {
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    const all = await service.metrics();
    for (const name of [
      'platen_http_requests_total',
      'platen_jobs{',
      'platen_slots_in_use',
      'platen_slots_waiting',
      'platen_render_phase_duration_seconds_bucket',
      'platen_pages_total',
      'platen_pdf_bytes_total',
      'platen_job_retries_total',
      'platen_jobs_ended_total{state="cancelled"',
      'platen_browsers',
      'platen_browser_contexts{role="',
      'platen_browser_restarts_total',
      'platen_worker_slots',
      'platen_worker_start_seconds',
      'platen_browser_context_leases_total{kind="warm"',
      'platen_job_wait_seconds_count{',
      'platen_sweep_repairs_total{sweep="named-jobs"',
    ]) {
      assert.ok(all.includes(name), name);
    }
  });
}
