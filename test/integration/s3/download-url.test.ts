import assert from 'node:assert/strict';
import { pino } from 'pino';
import { createS3OutputStore, type S3OutputStore } from '../../../src/infra/outputs/s3/s3.ts';
import { openS3Front, type S3Front } from '../../support/s3-front.ts';
import { s3Config, sharedS3 } from '../../support/s3-server.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';

const QUARTER_MS = 15 * 60_000;

describe('Download addresses with outputs in S3', () => {
  let front: S3Front;
  let store: S3OutputStore;
  let api: TestApi;
  let caller: TestCaller;
  const pdf = Buffer.from('%PDF-1.7 of the test');

  const openWith = async (more: Record<string, string>, retentionHours = 24) => {
    const config = s3Config({ ...(await (await sharedS3()).newBucket()), ...more });
    store = createS3OutputStore(config, { logger: pino({ level: 'silent' }), probes: true });
    api = await openApi({ outputs: store, plan: { retentionHours } });
    api.worker.render = async () => ({ pages: 1, pdf });
    caller = await api.newCaller();
  };
  beforeEach(async () => {
    front = await openS3Front((await sharedS3()).endpoint);
  });
  afterEach(async () => {
    await api.close();
    await store.close();
    await front.close();
  });
  const isAtStore = (address: string) => address.startsWith(`${front.endpoint}/bucket-`);

  it('are the store’s own where callers reach it: a quarter of an hour, with the name of the file', async () => {
    await openWith({ PLATEN_S3_PUBLIC_ENDPOINT: front.endpoint, PLATEN_S3_PREFIX: 'p/' });
    const jobId = await caller.completed({ filename: 'Rechnung Nr. 1 – März.pdf' });
    const { status, json } = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
    assert.deepEqual([status, json.success], [200, true]);
    assert.ok(isAtStore(json.url), json.url);
    assert.ok(Date.parse(json.expiresAt) <= api.domain.clock.now().getTime() + QUARTER_MS);
    const response = await fetch(json.url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/pdf');
    assert.match(
      response.headers.get('content-disposition')!,
      /^attachment; .*filename\*=utf-8''Rechnung%20Nr\.%201%20%E2%80%93%20M%C3%A4rz\.pdf$/i,
    );
    assert.ok(pdf.equals(Buffer.from(await response.arrayBuffer())));
    assert.deepEqual(
      front.seen.map((request) => request.split('?')[0]),
      [`GET ${new URL(json.url).pathname}`],
      'the process itself does not ask there',
    );
    assert.equal(new URL(json.url).searchParams.get('X-Amz-Expires'), '900');
  });

  it('hold for one file alone, and for reading', async () => {
    await openWith({ PLATEN_S3_PUBLIC_ENDPOINT: front.endpoint });
    const [one, other] = [await caller.completed(), await caller.completed()];
    const address = async (jobId: string) =>
      (await caller.get(`/v1/pdf/jobs/${jobId}/download-url`)).json.url as string;
    const [given, elsewhere] = [new URL(await address(one)), new URL(await address(other))];
    assert.equal((await fetch(given)).status, 200);
    assert.equal((await fetch(given, { method: 'DELETE' })).status, 403);
    assert.equal((await fetch(given, { method: 'PUT', body: 'mine' })).status, 403);
    assert.equal((await fetch(new URL(elsewhere.pathname + given.search, given))).status, 403);
    assert.equal((await fetch(new URL(given.pathname, given))).status, 403, 'nothing is public');
    const stranger = await api.newCaller();
    assert.equal((await stranger.get(`/v1/pdf/jobs/${one}/download-url`)).status, 404);
  });

  it('are also those of output: url and of items of batches, and end with the retention', async () => {
    await openWith({ PLATEN_S3_PUBLIC_ENDPOINT: front.endpoint }, 1);
    const { json } = await caller.render({ html: '<p>x</p>', output: 'url' });
    assert.ok(isAtStore(json.url), json.url);
    const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
    const batchId = (await caller.post('/v1/pdf/batch', { items })).json.jobId;
    for (;;) {
      const { status, json } = await caller.get(`/v1/pdf/batch/${batchId}/items/b/download-url`);
      if (status === 404) continue;
      assert.ok(isAtStore(json.url), json.url);
      assert.equal((await fetch(json.url)).status, 200);
      break;
    }
    const jobId = await caller.completed();
    api.domain.clock.pass(55 * 60_000);
    const late = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
    const { outputExpiresAt } = (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
    assert.ok(late.json.expiresAt <= outputExpiresAt, `${late.json.expiresAt} ${outputExpiresAt}`);
    assert.ok(Number(new URL(late.json.url).searchParams.get('X-Amz-Expires')) <= 300);
  });

  it('stay the API’s own where callers do not reach the store', async () => {
    await openWith({});
    const jobId = await caller.completed();
    const { json } = await caller.get(`/v1/pdf/jobs/${jobId}/download-url`);
    assert.ok(json.url.startsWith(`${api.url}/v1/files/`), json.url);
    const sent = await fetch(json.url);
    assert.ok(pdf.equals(Buffer.from(await sent.arrayBuffer())));
    const file = await caller.get(`/v1/pdf/jobs/${jobId}/file`);
    assert.ok(pdf.equals(file.bytes));
  });
});
