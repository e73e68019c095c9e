import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Job, JobInput } from '../../../src/work/jobs/job.ts';
import { callApi, type TestCaller, useApi } from './support/api.ts';

/** What `curl --data-binary @page.html -H 'Content-Type: text/html'` sends. */
describe('POST /v1/pdf with text/html', () => {
  const api = useApi({ plan: { maxInputSizeBytes: 10_000 } });
  let caller: TestCaller;
  let seen: { job: Job; input: JobInput }[];

  beforeEach(async () => {
    caller = await api.newCaller();
    seen = [];
    api.worker.render = async (job, input) => {
      seen.push({ job, input });
      return { pages: 1 };
    };
  });

  const post = (query: string, html: string | Buffer = '<p>é</p>', headers: Record<string, string> = {}) =>
    callApi(api.url, 'POST', `/v1/pdf${query}`, Buffer.from(html), {
      'x-api-key': caller.secret,
      'content-type': 'text/html',
      ...headers,
    });

  it('renders the body, as JSON with the same html does', async () => {
    const { status, headers } = await post('', '<p>é "quoted" {{x}}</p>\n');
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/pdf']);
    assert.equal((await caller.render({ html: '<p>é "quoted" {{x}}</p>\n' })).status, 200);
    const [ofText, ofJson] = seen;
    assert.deepEqual(ofText!.input.source, ofJson!.input.source);
    assert.deepEqual(ofText!.input.options, ofJson!.input.options);
    assert.equal(ofText!.job.fileName, ofJson!.job.fileName);
  });

  it('takes options of each type from the query, and the other fields', async () => {
    const query =
      '?filename=a%20b.pdf&format=A5&landscape=true&scale=1.5&delayMs=20&margin.top=2cm&margin.left=1in' +
      '&metadata.title=7&metadata.keywords=a&metadata.keywords=b&failOn.pageStatus=["404","500-599"]' +
      '&viewport={"width":800,"height":600}&assetHeaders.X-Token=t&styles=p{color:red}';
    const { status, bytes } = await post(query);
    assert.equal(status, 200, Buffer.from(bytes).toString());
    const [{ job, input } = assert.fail()] = seen;
    assert.equal(job.fileName, 'a b.pdf');
    assert.deepEqual(input.options, {
      format: 'A5',
      landscape: true,
      scale: 1.5,
      delayMs: 20,
      margin: { top: '2cm', left: '1in' },
      metadata: { title: '7', keywords: ['a', 'b'] },
      failOn: { pageStatus: ['404', '500-599'] },
      viewport: { width: 800, height: 600 },
      assetHeaders: { 'X-Token': 't' },
      styles: ['p{color:red}'],
    });
    const accepted = await post('?executionMode=async&output=url');
    assert.equal(accepted.status, 202);
    const record = await caller.get(`/v1/pdf/jobs/${accepted.json.jobId}`);
    assert.equal(record.json.outputMode, 'url');
  });

  it('rejects what JSON would be rejected for, in the same words, all at once', async () => {
    const { status, json } = await post(
      '?scale=9&landscape=yes&colour=red&output=file&delayMs=1.5&margin.top=x&margin=y&__proto__=1&a.b.c=1&executionMode=later',
    );
    assert.deepEqual([status, json.code], [400, 'VALIDATION']);
    const asJson = await caller.render({
      html: 'x',
      output: 'file',
      executionMode: 'later',
      options: { scale: 9, landscape: 'yes', delayMs: 1.5 },
    });
    for (const error of asJson.json.message) assert.ok(json.message.includes(error), error);
    assert.ok(json.message.includes('options.colour: is not known'));
    assert.ok(json.message.includes('options.a: is not known'));
    assert.equal(json.message.filter((error: string) => error.startsWith('options.margin')).length, 1);
    assert.deepEqual((await post('', '')).json.message, ['html: must have at least 1 character']);
    assert.equal(({} as { a?: unknown }).a, undefined);
    assert.equal(seen.length, 0);
  });

  it('has the bounds of size and of encoding that JSON has', async () => {
    assert.equal((await post('', 'x'.repeat(10_001))).json.code, 'INPUT_TOO_LARGE');
    for (const [html, headers] of [
      [Buffer.from([0x3c, 0xff]), {}],
      ['x', { 'content-type': 'text/html; charset=iso-8859-1' }],
      ['x', { 'content-encoding': 'gzip' }],
    ] as const)
      assert.equal((await post('', html, headers)).json.code, 'UNSUPPORTED_MEDIA_TYPE');
    const withCharset = { 'content-type': 'Text/HTML; charset="UTF-8"' };
    assert.equal((await post('', 'x', withCharset)).status, 200);
  });

  it('repeats under an Idempotency-Key only what has the same text and the same query', async () => {
    const name = { 'idempotency-key': randomUUID() };
    const first = await post('?format=A5', 'x', name);
    const again = await post('?format=A5', 'x', name);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.headers.get('x-service-job-id'), first.headers.get('x-service-job-id'));
    for (const [query, html] of [
      ['?format=A4', 'x'],
      ['?format=A5', 'y'],
    ] as const)
      assert.equal((await post(query, html, name)).json.code, 'IDEMPOTENCY_MISMATCH');
    assert.equal((await caller.render({ html: 'x' }, name)).json.code, 'IDEMPOTENCY_MISMATCH');
    assert.equal(seen.length, 1);
  });

  it('needs a key, and is no way to send a batch', async () => {
    assert.equal((await post('', 'x', { 'x-api-key': 'sk_live_none' })).status, 401);
    const headers = { 'x-api-key': caller.secret, 'content-type': 'text/html' };
    const batch = await callApi(api.url, 'POST', '/v1/pdf/batch', Buffer.from('x'), headers);
    assert.equal(batch.json.code, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('reads the query of no JSON request', async () => {
    const headers = { 'x-api-key': caller.secret };
    const { status } = await callApi(api.url, 'POST', '/v1/pdf?format=none', { html: 'x' }, headers);
    assert.equal(status, 200);
    assert.equal(seen[0]!.input.options.format, undefined);
  });
});
