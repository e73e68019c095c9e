import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { Job, JobInput } from '../../../src/work/jobs/job.ts';
import { readPdf } from '../../support/pdf.ts';
import { openApi, type TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

describe('POST /v1/pdf', () => {
  const api = useApi();
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
  });

  /** The render that the worker gets for a request. */
  async function submitted(
    body: Record<string, unknown>,
    from = caller,
  ): Promise<{ job: Job; input: JobInput }> {
    let seen: { job: Job; input: JobInput } | undefined;
    api.worker.render = async (job, input) => {
      seen = { job, input };
      return { pages: 1 };
    };
    const response = await from.render(body);
    assert.equal(response.status, 200);
    return seen!;
  }

  describe('responds to a completed sync render', () => {
    it('with the PDF, its name and its metadata', async () => {
      api.worker.render = async () => ({ pages: 3 });
      const response = await caller.render({ html: '<p>x</p>', filename: 'Rechnung März.pdf' });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/pdf');
      assert.equal((await readPdf(response.bytes)).pages.length, 3);
      assert.equal(Number(response.headers.get('content-length')), response.bytes.byteLength);
      assert.match(
        response.headers.get('content-disposition')!,
        /^attachment; .*filename\*=UTF-8''Rechnung%20M%C3%A4rz\.pdf/,
      );
      assert.equal(response.headers.get('x-service-pages'), '3');
      assert.match(response.headers.get('x-service-processing-time-ms')!, /^\d+$/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const record = await caller.get(`/v1/pdf/jobs/${response.headers.get('x-service-job-id')}`);
      assert.equal(record.json.status, 'completed');
      assert.equal(record.json.outputExpiresAt, response.headers.get('x-service-expires-at'));
    });

    it('with a signed address that needs no key', async () => {
      const response = await caller.render({ html: '<p>x</p>', output: 'url', options: { format: 'A5' } });
      assert.equal(response.status, 200);
      assert.equal(response.json.metadata.mode, 'html');
      assert.equal(response.json.metadata.format, 'A5');
      assert.ok(response.json.url.startsWith(`${api.url}/v1/files/`));
      const file = await fetch(response.json.url);
      const bytes = new Uint8Array(await file.arrayBuffer());
      assert.equal(file.status, 200);
      assert.equal(bytes.byteLength, response.json.metadata.size);
      assert.equal((await readPdf(bytes)).pages.length, 1);
    });
  });

  describe('submits', () => {
    it('HTML, with the options of the request', async () => {
      const options = { scale: 1.5, margin: { top: '12mm' }, metadata: { title: 'a "b"', keywords: ['c'] } };
      const { job, input } = await submitted({ html: '<p>é</p>', options });
      assert.deepEqual(input.source, { mode: 'html', html: '<p>é</p>' });
      assert.deepEqual(input.options, options);
      assert.equal(job.class, 'interactive');
      assert.equal(job.fileName, 'document.pdf');
    });

    it('a URL', async () => {
      const { input } = await submitted({ url: 'https://example.com/a?b=c' });
      assert.deepEqual(input.source, { mode: 'url', url: 'https://example.com/a?b=c' });
      const other = await submitted({ url: 'HTTPS://Example.com:443\\a b' });
      assert.deepEqual(other.input.source, { mode: 'url', url: 'https://example.com/a%20b' });
    });

    it('the current version of a template, with the data', async () => {
      const saved = await api.templates.create(caller.accountId, {
        name: 't',
        content: '<p>{{a.b}}</p>',
        sampleData: '{}',
      });
      const { input } = await submitted({
        templateId: saved.template._id.toUpperCase(),
        data: { a: { b: [1, null] } },
      });
      assert.deepEqual(input.source, {
        mode: 'template',
        templateId: saved.template._id,
        templateVersionId: saved.version._id,
        content: '<p>{{a.b}}</p>',
        data: { a: { b: [1, null] } },
      });
    });

    it('a pinned version of a template, without data', async () => {
      const saved = await api.templates.create(caller.accountId, {
        name: 't',
        content: 'x',
        sampleData: '{}',
      });
      const { input } = await submitted({
        templateId: saved.template._id,
        templateVersionId: saved.version._id,
      });
      assert.equal(input.source.mode === 'template' && input.source.templateVersionId, saved.version._id);
    });

    it('data whose keys look like operators of the database', async () => {
      const saved = await api.templates.create(caller.accountId, {
        name: 't',
        content: 'x',
        sampleData: '{}',
      });
      const data = { $where: 'x', 'a.b': { $gt: 1 }, '': 2, constructor: { prototype: 3 } };
      const { input } = await submitted({ templateId: saved.template._id, data });
      assert.deepEqual(input.source.mode === 'template' && input.source.data, data);
    });

    it('the TEST watermark for test keys, beside their own', async () => {
      const tester = await api.newCaller({ mode: 'test' });
      const { job, input } = await submitted(
        {
          html: '<p>x</p>',
          options: { scale: 2, watermark: { text: 'mine', opacity: 0.02, color: 'white' } },
        },
        tester,
      );
      const own = { text: 'mine', opacity: 0.02, color: 'white' };
      assert.deepEqual(input.options, { scale: 2, report: true, watermark: { text: 'TEST', own } });
      assert.equal(job.test, true);
    });

    it('a time-out that includes the delay, by default', async () => {
      const timeoutOf = async (options: object) => (await submitted({ html: 'x', options })).input.timeoutMs;
      assert.equal(await timeoutOf({}), 30_000);
      assert.equal(await timeoutOf({ delayMs: 60_000 }), 90_000);
      assert.equal(await timeoutOf({ delayMs: 60_000, timeoutMs: 70_000 }), 70_000);
    });

    it('a safe file name', async () => {
      const { job } = await submitted({ html: 'x', filename: '../../etc/pass"wd; Set-Cookie: a=b' });
      assert.match(job.fileName, /^[^/\\"\r\n]+\.pdf$/);
    });
  });

  it('accepts an async render with 202 at once', async () => {
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const response = await caller.render({ html: '<p>x</p>', executionMode: 'async' });
    const { jobId } = response.json;
    assert.equal(response.status, 202);
    assert.deepEqual(response.json, {
      success: true,
      jobId,
      status: 'queued',
      statusUrl: `/v1/pdf/jobs/${jobId}`,
      fileUrl: `/v1/pdf/jobs/${jobId}/file`,
    });
    const record = await caller.get(response.json.statusUrl);
    assert.ok(['queued', 'processing'].includes(record.json.status));
    held.open();
  });

  it('responds with 202 when the wait is over, and the render continues', async () => {
    const brief = await openApi({ syncWaitMs: 1500 });
    try {
      const hasty = await brief.newCaller();
      const held = latch();
      brief.worker.render = async () => {
        await held.opened;
        return { pages: 1 };
      };
      const response = await hasty.render({ html: '<p>x</p>' });
      assert.equal(response.status, 202);
      assert.equal((await hasty.get(response.json.fileUrl)).status, 404);
      held.open();
      await ended(hasty, response.json.jobId);
      assert.equal((await hasty.get(response.json.fileUrl)).status, 200);
    } finally {
      await brief.close();
    }
  });

  it('responds with 202 when an attempt has failed and another follows', async () => {
    api.worker.render = async () => ({ retries: new PlatenError('BROWSER_CRASHED') });
    const response = await caller.render({ html: '<p>x</p>' });
    assert.equal(response.status, 202);
    const record = (await caller.get(response.json.statusUrl)).json;
    assert.equal(record.status, 'queued');
    assert.equal(record.willRetry, true);
    assert.equal(record.error.code, 'RETRY_SCHEDULED');
    assert.equal(record.retryAttempt, 1);
  });

  describe('responds to a sync render that has failed', () => {
    for (const [code, status] of [
      ['URL_UNREACHABLE', 400],
      ['SELECTOR_TIMEOUT', 400],
      ['TEMPLATE_ERROR', 400],
      ['OUTPUT_TOO_LARGE', 413],
      ['RENDER_TIMEOUT', 504],
      ['RENDER_FAILED', 500],
    ] as const) {
      it(`with ${status} for ${code}`, async () => {
        api.worker.render = async () => ({ fails: new PlatenError(code, 'This and that happened.') });
        const response = await caller.render({ html: '<p>x</p>' });
        assert.equal(response.status, status);
        assert.equal(response.json.code, code);
        assert.equal(response.json.message, 'This and that happened.');
        const record = (await caller.get(`/v1/pdf/jobs/${response.json.jobId}`)).json;
        assert.equal(record.status, 'failed');
        assert.equal(record.deadLettered, true);
        assert.deepEqual(record.error, { code, message: 'This and that happened.' });
      });
    }

    it('with 409 when the render was cancelled meanwhile', async () => {
      const began = latch();
      const held = latch();
      let jobId = '';
      api.worker.render = async (job) => {
        jobId = job._id;
        began.open();
        await held.opened;
        return { pages: 1 };
      };
      const pending = caller.render({ html: '<p>x</p>' });
      await began.opened;
      assert.equal((await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 200);
      held.open();
      const response = await pending;
      assert.equal(response.status, 409);
      assert.equal(response.json.code, 'CANCELLED');
      assert.equal(response.json.jobId, jobId);
    });
  });

  it('rejects a longer deadline than the plan allows with 403', async () => {
    const response = await caller.render({ html: '<p>x</p>', options: { timeoutMs: 300_000 } });
    assert.equal(response.status, 403);
    assert.equal(response.json.code, 'PLAN_LIMIT');
  });

  it('rejects new work with 503 and Retry-After while the whole service is full', async () => {
    api.state.rejection = new PlatenError('UNAVAILABLE', 'full', { retryAfterSeconds: 9.2 });
    const response = await caller.render({ html: '<p>x</p>' });
    api.state.rejection = undefined;
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '10');
  });

  it('responds to an unexpected error with 500, without its message', async () => {
    const { resolve } = api.templates;
    api.templates.resolve = () => Promise.reject(new Error('password=hunter2 at db.internal'));
    const response = await caller.render({ templateId: '8f14e45f-ceea-467f-9a4b-0d8d1d1d1d1d' });
    api.templates.resolve = resolve;
    assert.equal(response.status, 500);
    assert.equal(response.json.code, 'INTERNAL');
    assert.ok(!Buffer.from(response.bytes).toString().includes('hunter2'));
    assert.ok(api.log.some((line) => line.includes('"level":50') && line.includes(response.json.requestId)));
  });
});

describe('POST /v1/pdf of an account whose slots are taken', () => {
  const api = useApi({ plan: { concurrentRenders: 1, maxWaitingJobs: 1 } });

  it('waits in the queue, and gets 429 with Retry-After when the queue is full', async () => {
    const caller = await api.newCaller();
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const running = (await caller.render({ html: '1', executionMode: 'async' })).json.jobId;
    const waiting = (await caller.render({ html: '2', executionMode: 'async' })).json.jobId;
    const rejected = await caller.render({ html: '3', executionMode: 'async' });
    assert.equal(rejected.status, 429);
    assert.equal(rejected.json.code, 'TOO_MANY_WAITING');
    assert.ok(Number(rejected.headers.get('retry-after')) >= 1);
    held.open();
    for (const jobId of [running, waiting]) assert.equal((await ended(caller, jobId)).status, 'completed');
  });
});

async function ended(caller: TestCaller, jobId: string) {
  for (;;) {
    const { json } = await caller.get(`/v1/pdf/jobs/${jobId}`);
    if (json.status === 'completed') return json;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
