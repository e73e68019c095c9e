import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { LINK_LIFE_MS } from '../../../src/work/jobs/submission/download-links.ts';
import { readPdf } from '../../support/pdf.ts';
import { callApi, type TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const HOUR_MS = 3_600_000;

describe('Jobs over HTTP', () => {
  const api = useApi({ plan: { retentionHours: 1 } });
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
  });

  const token = (address: string) => new URL(address).pathname;

  it('have a record with every field when completed', async () => {
    api.worker.render = async () => ({ pages: 2 });
    const jobId = await caller.completed({ filename: 'a', output: 'binary', url: undefined });
    const { json } = await caller.get(`/v1/pdf/jobs/${jobId}`);
    const { createdAt, updatedAt, completedAt, outputExpiresAt, pdfSize, processingTimeMs, ...rest } = json;
    assert.deepEqual(rest, {
      success: true,
      jobId,
      status: 'completed',
      inputMode: 'html',
      outputMode: 'binary',
      outputAvailable: true,
      downloadUrlEndpoint: `/v1/pdf/jobs/${jobId}/download-url`,
      fileName: 'a.pdf',
      pages: 2,
      attemptCount: 1,
      retryAttempt: null,
      maxAttempts: 3,
      willRetry: false,
      deadLettered: false,
      error: null,
    });
    assert.ok(createdAt <= completedAt && completedAt <= updatedAt);
    assert.ok(Math.abs(Date.parse(outputExpiresAt) - Date.parse(completedAt) - HOUR_MS) < 60_000);
    assert.ok(pdfSize > 100 && processingTimeMs >= 0);
  });

  it('are found by an id in capital letters', async () => {
    const jobId = await caller.completed();
    assert.equal((await caller.get(`/v1/pdf/jobs/${jobId.toUpperCase()}`)).json.jobId, jobId);
  });

  it('have a download address in one spelling', async () => {
    const jobId = await caller.completed();
    const { url } = (await caller.get(`/v1/pdf/jobs/${jobId}/download-url`)).json;
    assert.equal((await fetch(url)).status, 200);
    const [payload = '', mac = ''] = url.split('.').slice(-2);
    const lastDigit = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // The last character of 43 has two bits that a decoder drops.
    const sameBytes = lastDigit[lastDigit.indexOf(mac.at(-1)!) ^ 1]!;
    const others = ['=', '%20', '%00', '%0A', '%3D'].map((added) => url + added);
    for (const other of [...others, url.slice(0, -1) + sameBytes, url.replace(payload, `${payload}=`)])
      assert.equal((await fetch(other)).status, 404, other);
  });

  it('have neither file nor download address until they are completed', async () => {
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const { jobId, fileUrl } = (await caller.render({ html: 'x', executionMode: 'async' })).json;
    for (const path of [fileUrl, `/v1/pdf/jobs/${jobId}/download-url`]) {
      const response = await caller.get(path);
      assert.equal(response.status, 404);
      assert.equal(response.json.jobId, jobId);
    }
    const record = (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
    assert.equal(record.outputAvailable, false);
    assert.equal(record.pdfSize, 0);
    held.open();
  });

  it('have a file, sent with its name and length, and without a body to HEAD', async () => {
    const jobId = await caller.completed({ filename: '請求書.pdf' });
    const response = await caller.get(`/v1/pdf/jobs/${jobId}/file`);
    assert.equal((await readPdf(response.bytes)).pages.length, 1);
    assert.match(response.headers.get('content-disposition')!, /filename\*=UTF-8''%E8%AB%8B/);
    const head = await caller.call('HEAD', `/v1/pdf/jobs/${jobId}/file`);
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), String(response.bytes.byteLength));
    assert.equal(head.bytes.byteLength, 0);
  });

  it('get 404 for an unknown id', async () => {
    const id = randomUUID();
    for (const suffix of ['', '/file', '/download-url']) {
      assert.equal((await caller.get(`/v1/pdf/jobs/${id}${suffix}`)).status, 404);
    }
    assert.equal((await caller.call('DELETE', `/v1/pdf/jobs/${id}`)).status, 404);
  });

  describe('Cancelling', () => {
    it('ends a running job once', async () => {
      const held = latch();
      api.worker.render = async () => {
        await held.opened;
        return { pages: 1 };
      };
      const { jobId } = (await caller.render({ html: 'x', executionMode: 'async' })).json;
      const cancelled = await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`);
      assert.equal(cancelled.status, 200);
      assert.equal(cancelled.json.status, 'cancelled');
      assert.equal(cancelled.json.error.code, 'CANCELLED');
      held.open();
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}`)).json.status, 'cancelled');
      const again = await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`);
      assert.equal(again.status, 409);
      assert.equal(again.json.code, 'JOB_ENDED');
    });

    it('is rejected for a completed job, whose file stays', async () => {
      const jobId = await caller.completed();
      assert.equal((await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 409);
      assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}/file`)).status, 200);
    });
  });

  describe('Signed addresses', () => {
    it('lead to the file without a key, for 15 minutes', async () => {
      const jobId = await caller.completed({ filename: 'a' });
      const { json } = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
      const left = Date.parse(json.expiresAt) - api.domain.clock.now().getTime();
      assert.ok(left > LINK_LIFE_MS - 5000 && left <= LINK_LIFE_MS);
      const response = await callApi(api.url, 'GET', token(json.url));
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename=a.pdf');
      assert.equal((await readPdf(response.bytes)).pages.length, 1);
      api.domain.clock.pass(LINK_LIFE_MS + 1);
      assert.equal((await callApi(api.url, 'GET', token(json.url))).status, 404);
    });

    it('are rejected when they are forged, truncated, mixed or malformed', async () => {
      const first = (await caller.get(`/v1/pdf/jobs/${await caller.completed()}/download-url`)).json.url;
      const second = (await caller.get(`/v1/pdf/jobs/${await caller.completed()}/download-url`)).json.url;
      const [payload, mac] = token(first).split('/').at(-1)!.split('.') as [string, string];
      const [otherPayload] = token(second).split('/').at(-1)!.split('.') as [string];
      const forged = Buffer.from(JSON.stringify([randomUUID(), caller.accountId, Date.now() + 1e6]));
      for (const bad of [
        `${otherPayload}.${mac}`,
        `${forged.toString('base64url')}.${mac}`,
        `${payload}.${mac.slice(0, -2)}`,
        `${payload}.`,
        payload,
        `.${mac}`,
        `${payload}.${mac}.${mac}`,
        'x',
        '%00',
      ]) {
        assert.equal((await callApi(api.url, 'GET', `/v1/files/${bad}`)).status, 404, bad);
      }
      assert.equal((await callApi(api.url, 'GET', `/v1/files/${'x'.repeat(2000)}`)).status, 400);
    });

    it('never outlive the retention', async () => {
      const jobId = await caller.completed();
      api.domain.clock.pass(HOUR_MS - 60_000);
      const { json } = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
      const { outputExpiresAt } = (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
      assert.equal(json.expiresAt, outputExpiresAt);
    });
  });

  it('are deleted with record and file when their retention has ended', async () => {
    const jobId = await caller.completed();
    const { json } = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
    api.domain.clock.pass(HOUR_MS + 1000);
    for (const suffix of ['', '/file', '/download-url']) {
      assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}${suffix}`)).status, 404);
    }
    assert.equal((await callApi(api.url, 'GET', token(json.url))).status, 404);
    assert.equal((await caller.get('/v1/pdf/jobs')).json.total, 0);
  });

  describe('Lists of jobs', () => {
    async function ordered(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        ids.push(await caller.completed());
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return ids;
    }
    const ids = (response: { json: { jobs: { jobId: string }[] } }) =>
      response.json.jobs.map(({ jobId }) => jobId);

    it('have pages, newest first or oldest first', async () => {
      const all = await ordered(5);
      const newest = all.toReversed();
      const first = await caller.get('/v1/pdf/jobs?limit=2');
      assert.deepEqual(
        { total: first.json.total, limit: first.json.limit, offset: first.json.offset },
        { total: 5, limit: 2, offset: 0 },
      );
      assert.deepEqual(ids(first), newest.slice(0, 2));
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?limit=2&offset=2')), newest.slice(2, 4));
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?limit=2&offset=4')), newest.slice(4));
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?offset=10000')), []);
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?sort=created_asc&limit=100')), all);
      assert.equal((await caller.get('/v1/pdf/jobs')).json.limit, 20);
    });

    it('can be narrowed down to a status, in which a dispatched job is queued', async () => {
      const [completed] = await ordered(1);
      api.worker.render = async () => ({ fails: new PlatenError('TEMPLATE_ERROR') });
      const failed = (await caller.render({ html: 'x' })).json.jobId;
      await api.worker.stop();
      const queued = (await caller.render({ html: 'x', executionMode: 'async' })).json.jobId;
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?status=completed')), [completed]);
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?status=failed')), [failed]);
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?status=queued')), [queued]);
      assert.deepEqual(ids(await caller.get('/v1/pdf/jobs?status=cancelled')), []);
      assert.equal((await caller.get('/v1/pdf/jobs')).json.total, 3);
      await api.worker.start();
    });
  });
});
