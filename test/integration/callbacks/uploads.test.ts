import assert from 'node:assert/strict';
import type { Agent } from 'undici';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { CallbackSender } from '../../../src/work/callbacks/sender.ts';
import { createPut } from '../../../src/work/callbacks/uploads.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';
import { openSender, Receiver, testAgent } from './support.ts';

const HTML = { html: '<p>x</p>' };

describe('An upload to an address of the caller', () => {
  let api: TestApi;
  let agent: Agent;
  let receiver: Receiver;
  let sender: CallbackSender;
  let caller: TestCaller;
  const pdf = Buffer.from('%PDF-1.7 of the test');

  before(async () => {
    api = await openApi();
    agent = testAgent();
    receiver = await Receiver.start();
    const { uploads } = api.domain.callbacks;
    const send = createPut(agent, { outputs: api.outputs, clock: api.domain.clock }, 10_000);
    sender = openSender(api.domain, agent, { deliveries: uploads, send });
  });
  after(async () => {
    await sender.stop(0);
    await agent.destroy();
    await receiver.close();
    await api.close();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.respond = (_request, response) => response.writeHead(200).end();
    api.worker.render = async () => ({ pages: 1, pdf });
    caller = await api.newCaller();
  });

  /** As S3 signs: valid for a time from now on. */
  const signed = (seconds: number, path = '/bucket/a.pdf') => {
    const at = api.domain.clock
      .now()
      .toISOString()
      .replace(/[-:]|\.\d+/g, '');
    return receiver.url(`${path}?X-Amz-Date=${at}&X-Amz-Expires=${seconds}&X-Amz-Signature=secret`);
  };
  const uploadOf = async (jobId: string) => (await caller.get(`/v1/pdf/jobs/${jobId}`)).json.upload;
  /** What became of it, once it has been tried so often. */
  const tried = async (jobId: string, attempts = 1) => {
    await eventually('it has been tried', async () => {
      await sender.send();
      await sender.idle();
      return (await uploadOf(jobId)).attemptCount >= attempts;
    });
    return uploadOf(jobId);
  };

  it('puts the PDF there, of a render that was waited for and of one that was not', async () => {
    for (const executionMode of ['sync', 'async']) {
      receiver.received.length = 0;
      const jobId = await caller.completed({ executionMode, uploadUrl: signed(3600) });
      assert.deepEqual(await tried(jobId), {
        status: 'delivered',
        attemptCount: 1,
        responseStatus: 200,
        error: null,
      });
      const [{ path, headers, body } = assert.fail()] = receiver.received;
      assert.match(path, /^\/bucket\/a\.pdf\?X-Amz-Date=.*&X-Amz-Signature=secret$/);
      assert.deepEqual(
        [headers['content-type'], headers['content-length']],
        ['application/pdf', String(pdf.length)],
      );
      assert.equal(body, String(pdf));
      assert.ok(
        !Object.keys(headers).some((name) => name.startsWith('x-service-')),
        'nothing is signed by us',
      );
      assert.equal(receiver.received.length, 1);
    }
    const rows = (await caller.get('/v1/pdf/jobs')).json.jobs;
    assert.deepEqual(
      rows.map(({ upload }: { upload: { status: string } }) => upload.status),
      ['delivered', 'delivered'],
    );
    const without = await caller.completed();
    assert.equal(await uploadOf(without), undefined);
  });

  it('puts the PDF of each item that has an address', async () => {
    const items = ['a', 'b', 'c'].map((id) => ({
      id,
      ...HTML,
      ...(id !== 'c' && { uploadUrl: signed(3600, `/${id}.pdf`) }),
    }));
    const { json } = await caller.post('/v1/pdf/batch', { items });
    const records = async () => (await caller.get(`/v1/pdf/batch/${json.jobId}`)).json.items;
    await eventually('all are there', async () => {
      await sender.send();
      await sender.idle();
      return receiver.received.length === 2;
    });
    assert.deepEqual(receiver.received.map(({ path }) => path.split('?')[0]).sort(), ['/a.pdf', '/b.pdf']);
    const uploads = (await records()).map(({ upload }: { upload?: { status: string } }) => upload?.status);
    assert.deepEqual(uploads, ['delivered', 'delivered', undefined]);
  });

  it('tries again as a callback is tried again, and says what the store responded', async () => {
    receiver.respond = (_request, response) => response.writeHead(503).end();
    const jobId = await caller.completed({ uploadUrl: signed(3600) });
    assert.deepEqual(await tried(jobId), {
      status: 'pending',
      attemptCount: 1,
      responseStatus: 503,
      error: { code: 'UPLOAD_FAILED', message: 'The receiver responded with status 503.' },
    });
    receiver.respond = (_request, response) => response.writeHead(200).end();
    api.domain.clock.pass(10_000);
    assert.deepEqual(await tried(jobId, 2), {
      status: 'delivered',
      attemptCount: 2,
      responseStatus: 200,
      error: null,
    });
    assert.equal(receiver.received[1]?.body, String(pdf));
  });

  it('ends when the address is no longer valid', async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const jobId = await caller.completed({ uploadUrl: signed(120) });
    await tried(jobId);
    api.domain.clock.pass(180_000);
    const { status, error } = await tried(jobId, 2);
    assert.deepEqual([status, error.code], ['failed', 'UPLOAD_URL_EXPIRED']);
    assert.match(error.message, /^The address was valid until 2\d{3}-/);
    assert.equal(receiver.received.length, 1, 'it was not tried any more');
  });

  it('is not made for a render without a PDF', async () => {
    api.worker.render = async () => ({
      fails: new PlatenError('RENDER_FAILED', undefined, { permanent: true }),
    });
    const { jobId } = (await caller.render({ ...HTML, executionMode: 'async', uploadUrl: signed(3600) }))
      .json;
    await eventually('it has failed', async () => {
      api.domain.clock.pass(60_000);
      return (await caller.get(`/v1/pdf/jobs/${jobId}`)).json.status === 'failed';
    });
    assert.deepEqual(await uploadOf(jobId), {
      ...{ status: 'failed', attemptCount: 0, responseStatus: null },
      error: { code: 'UPLOAD_FAILED', message: 'The render has no PDF.' },
    });
    assert.equal(receiver.received.length, 0);
  });

  it('is refused to private addresses, other schemes, and addresses that are valid no longer', async () => {
    const expired = signed(1);
    api.domain.clock.pass(10_000);
    for (const [uploadUrl, code] of [
      ['https://10.0.0.1/a.pdf', 'URL_BLOCKED'],
      ['https://169.254.169.254/a.pdf', 'URL_BLOCKED'],
      ['https://localhost/a.pdf', 'URL_BLOCKED'],
      ['http://example.com/a.pdf', 'VALIDATION'],
      ['https://user:password@example.com/a.pdf', 'INVALID_URL'],
      [expired, 'UPLOAD_URL_EXPIRED'],
      [signed(30), 'UPLOAD_URL_EXPIRED'],
      ['https://a.blob.core.windows.net/a.pdf?se=2020-01-01T00%3A00%3A00Z&sig=x', 'UPLOAD_URL_EXPIRED'],
      [
        'https://storage.googleapis.com/a.pdf?X-Goog-Date=20200101T000000Z&X-Goog-Expires=900',
        'UPLOAD_URL_EXPIRED',
      ],
    ] as const) {
      const one = await caller.render({ ...HTML, uploadUrl });
      assert.deepEqual([one.status, one.json.code], [400, code], uploadUrl);
      assert.match(String(one.json.message), /uploadUrl/);
      const items = [
        { id: 'a', ...HTML },
        { id: 'b', ...HTML, uploadUrl },
      ];
      const many = await caller.post('/v1/pdf/batch', { items });
      assert.deepEqual([many.status, many.json.code], [400, code], uploadUrl);
      assert.match(String(many.json.message), /items\[1\].*uploadUrl/);
    }
  });

  it('is refused when a name leads to a private address, at the attempt', async () => {
    const blocked = testAgent(async () => ['10.0.0.1']);
    const { uploads } = api.domain.callbacks;
    const send = createPut(blocked, { outputs: api.outputs, clock: api.domain.clock }, 10_000);
    const own = openSender(api.domain, blocked, { deliveries: uploads, send });
    const jobId = await caller.completed({ uploadUrl: `https://rebound.example/a.pdf` });
    await eventually('it has been tried', async () => {
      await own.send();
      await own.idle();
      return (await uploadOf(jobId)).attemptCount === 1;
    });
    const { status, responseStatus, error } = await uploadOf(jobId);
    assert.deepEqual([status, responseStatus, error.code], ['pending', null, 'UPLOAD_FAILED']);
    assert.doesNotMatch(error.message, /10\.0\.0\.1/);
    await own.stop(0);
    await blocked.destroy();
  });

  it('has its bytes counted to the account until its record is deleted', async () => {
    const uploadUrl = signed(3600);
    const jobId = await caller.completed({ uploadUrl });
    await tried(jobId);
    await api.domain.flush();
    assert.equal(await api.domain.callbacks.uploads.storedBytes(caller.accountId), 1024 + uploadUrl.length);
    assert.equal(await api.domain.stored.of(caller.accountId), pdf.length + 1024 + uploadUrl.length);
  });

  it('is for plans with callbacks', async () => {
    const other = await openApi({ plan: { features: { ...api.domain.plan.features, callbacks: false } } });
    const stranger = await other.newCaller();
    const { status, json } = await stranger.render({ ...HTML, uploadUrl: signed(3600) });
    assert.deepEqual(
      [status, json.code, json.message],
      [403, 'PLAN_LIMIT', 'uploadUrl: the plan has no uploads.'],
    );
    await other.close();
  });

  it('keeps its address to itself: nobody reads the signature back', async () => {
    const jobId = await caller.completed({ uploadUrl: signed(3600) });
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    const { json } = await caller.call('GET', `/user/renders/${jobId}`, undefined, {
      authorization: `Bearer ${token}`,
    });
    assert.doesNotMatch(JSON.stringify(json) + JSON.stringify(await uploadOf(jobId)), /Signature|secret/);
  });
});
