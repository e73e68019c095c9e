import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { Job, JobInput } from '../../../src/work/jobs/job.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const HOUR_MS = 3_600_000;

/** So many items with plain documents, from `<prefix>0` on. */
function items(count: number, prefix = 'item-') {
  return Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, html: `<p>${prefix}${i}</p>` }));
}

describe('POST /v1/pdf/batch', () => {
  const api = useApi({ plan: { concurrentRenders: 4, maxBatchItems: 300 } });
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
  });

  const submit = (body: object, headers: Record<string, string> = {}) =>
    caller.post('/v1/pdf/batch', body, headers);
  const status = async (id: string, query = '') => (await caller.get(`/v1/pdf/batch/${id}${query}`)).json;
  const finished = (id: string) =>
    eventually('the batch has ended', async () => (await status(id)).finishedAt !== null);

  it('responds before an item is rendered, and renders every item once', async () => {
    const held = latch();
    const rendered: string[] = [];
    api.worker.render = async (job: Job, input: JobInput) => {
      await held.opened;
      assert.equal(input.source.mode === 'html' && input.source.html, `<p>${job.item?.id}</p>`);
      rendered.push(job.item!.id);
      return { pages: 2 };
    };
    const response = await submit({ items: items(120), notes: 'monthly', metadata: { run: '7' } });
    assert.equal(response.status, 202);
    const { jobId, estimatedCompletionTime, expiresAt, ...rest } = response.json;
    assert.deepEqual(rest, {
      status: 'queued',
      itemCount: 120,
      totalCount: 120,
      statusUrl: `/v1/pdf/batch/${jobId}`,
    });
    assert.ok(Date.parse(estimatedCompletionTime) > Date.now());
    assert.ok(Date.parse(expiresAt) > Date.now() + 167 * HOUR_MS);
    await eventually('four run', async () => (await status(jobId)).progress.throttled === 116);
    const begun = await status(jobId);
    assert.equal(begun.status, 'processing');
    assert.deepEqual(begun.progress, {
      total: 120,
      completed: 0,
      failed: 0,
      pending: 120,
      throttled: 116,
      percentComplete: 0,
    });
    assert.equal(begun.items.filter((item: { status: string }) => item.status === 'processing').length, 4);
    held.open();
    await finished(jobId);
    const ended = await status(jobId);
    assert.equal(ended.status, 'completed');
    assert.deepEqual(ended.progress, {
      total: 120,
      completed: 120,
      failed: 0,
      pending: 0,
      throttled: 0,
      percentComplete: 100,
    });
    assert.equal(ended.estimatedCompletionTime, null);
    assert.equal(ended.completedAt, ended.finishedAt);
    assert.deepEqual(ended.job.metadata, { run: '7' });
    assert.equal(ended.job.notes, 'monthly');
    assert.deepEqual(
      ended.items.map((item: { itemId: string }) => item.itemId),
      items(120).map(({ id }) => id),
    );
    assert.ok(
      ended.items.every((item: { pages: number; pdfSize: number }) => item.pages === 2 && item.pdfSize > 0),
    );
    assert.deepEqual(
      [...rendered].sort(),
      items(120)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('completes a batch of which items fail, each with its own code', async () => {
    api.worker.render = async ({ item }) => {
      if (item?.id === 'item-1') return { fails: new PlatenError('SELECTOR_TIMEOUT') };
      if (item?.id === 'item-3') return { fails: new PlatenError('URL_UNREACHABLE', 'No such host.') };
      return { pages: 1 };
    };
    const { jobId } = (await submit({ items: items(5) })).json;
    await finished(jobId);
    const batch = await status(jobId);
    assert.equal(batch.status, 'completed');
    assert.deepEqual([batch.progress.completed, batch.progress.failed], [3, 2]);
    const codes = batch.items.map((item: { error: { code: string } | null }) => item.error?.code ?? null);
    assert.deepEqual(codes, [null, 'SELECTOR_TIMEOUT', null, 'URL_UNREACHABLE', null]);
    assert.equal(batch.items[3].errorMessage, 'No such host.');
    assert.equal(batch.items[3].status, 'failed');
    assert.equal(batch.items[3].outputAvailable, false);
    assert.equal(batch.items[0].outputExpiresAt, batch.expiresAt);
  });

  it('takes the quota of all items or of none, and gives back that of those that fail', async () => {
    const small = await openApi({ plan: { monthlyRenders: 10 } });
    try {
      const tenant = await small.newCaller();
      const held = latch();
      small.worker.render = async ({ item }) => {
        await held.opened;
        return item?.id === 'item-0' ? { fails: new PlatenError('TEMPLATE_ERROR') } : { pages: 1 };
      };
      const first = await tenant.post('/v1/pdf/batch', { items: items(6) });
      assert.equal(first.status, 202);
      const refused = await tenant.post('/v1/pdf/batch', { items: items(6) });
      assert.equal(refused.status, 403);
      assert.equal(refused.json.code, 'QUOTA_EXCEEDED');
      assert.match(refused.json.message, /Of the 10 PDFs of this month 4 are left/);
      held.open();
      const id = first.json.jobId;
      await eventually('it has ended', async () => (await tenant.get(`/v1/pdf/batch/${id}`)).json.finishedAt);
      const second = await tenant.post('/v1/pdf/batch', { items: items(5) });
      assert.equal(second.status, 202, 'five are left: one of six was given back');
    } finally {
      await small.close();
    }
  });

  it('lists the errors of all items at once', async () => {
    const response = await submit({
      items: [
        { id: 'a', html: '<p>x</p>', options: { scale: 7 } },
        { id: 'a', html: '<p>x</p>', url: 'https://example.com/' },
        { id: 'c', url: 'ftp://example.com/' },
        { id: '..', html: 'x' },
        { html: 'x' },
      ],
    });
    assert.equal(response.status, 400);
    const errors: string[] = response.json.message;
    assert.deepEqual(errors.sort(), [
      'items[0] ("a").options.scale: must be at most 2',
      'items[1] ("a").id: is that of items[0] as well',
      'items[1] ("a"): only one of html, url, templateId may be given, not html and url',
      'items[2] ("c").url: must be an http or https address',
      'items[3] ("..").id: must not be "." or ".."',
      'items[4].id: is required',
    ]);
  });

  it('rejects requests that the plan does not allow', async () => {
    const many = await submit({ items: items(301) });
    assert.deepEqual([many.status, many.json.code], [413, 'BATCH_TOO_LARGE']);
    const one = await submit({ items: items(1) });
    assert.equal(one.status, 400);
    const long = await submit({
      items: [...items(1), { id: 'z', html: 'x', options: { timeoutMs: 200_000 } }],
    });
    assert.deepEqual([long.status, long.json.code], [403, 'PLAN_LIMIT']);
    assert.match(long.json.message, /^items\[1\] \("z"\)\.options\.timeoutMs/);
    const kept = await submit({ items: items(2), expiresInHours: 169 });
    assert.deepEqual([kept.status, kept.json.code], [403, 'PLAN_LIMIT']);
    const template = await submit({
      items: [...items(1), { id: 't', templateId: '00000000-0000-4000-8000-000000000000' }],
    });
    assert.equal(template.status, 404);
    assert.match(template.json.message, /items\[1\] .*There is no template/);
  });

  it('is one batch for one Idempotency-Key, with the same response again', async () => {
    const key = { 'Idempotency-Key': 'one batch' };
    const first = await submit({ items: items(3) }, key);
    const again = await submit({ items: items(3) }, key);
    assert.equal(again.status, 202);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.json.jobId, first.json.jobId);
    assert.equal((await submit({ items: items(4) }, key)).status, 409);
    assert.equal((await caller.get('/v1/pdf/batch')).json.total, 1);
  });

  it('pages through the items of a large batch', async () => {
    const { jobId } = (await submit({ items: items(300) })).json;
    const page = await status(jobId, '?limit=7&offset=48');
    assert.deepEqual(
      page.items.map((item: { itemId: string }) => item.itemId),
      ['item-48', 'item-49', 'item-50', 'item-51', 'item-52', 'item-53', 'item-54'],
    );
    assert.equal((await status(jobId, '?limit=0')).items.length, 0);
    assert.equal((await status(jobId, '?offset=299')).items.length, 1);
  });

  it('cancels what has not begun, and lets the rest end', async () => {
    const held = latch();
    let begun = 0;
    api.worker.render = async ({ accountId }) => {
      // Those of batches of the tests before may still be rendered.
      if (accountId === caller.accountId) begun += 1;
      await held.opened;
      return { pages: 1 };
    };
    const { jobId } = (await submit({ items: items(60) })).json;
    // A slot of the plan alone is not enough: what has it and has not begun is cancelled as well.
    await eventually('four run', () => begun === 4);
    assert.equal((await status(jobId)).progress.throttled, 56);
    const cancelled = await caller.delete(`/v1/pdf/batch/${jobId}`);
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.json.status, 'cancelled');
    assert.equal((await caller.delete(`/v1/pdf/batch/${jobId}`)).status, 409);
    await eventually('all others have ended', async () => (await status(jobId)).progress.failed === 56);
    held.open();
    await finished(jobId);
    const batch = await status(jobId);
    assert.equal(batch.status, 'cancelled');
    assert.deepEqual([batch.progress.completed, batch.progress.failed], [4, 56]);
    assert.equal(batch.items[59].error.code, 'CANCELLED');
    // A job that ended while it was given its slot is counted twice until the slot is taken back.
    const ledger = () => api.domain.ledger.find(caller.accountId);
    await eventually('nobody waits', async () => (await ledger())?.waiting === 0);
    assert.equal(Object.values((await ledger())?.quota ?? {})[0], 4);
  });

  it('is seen by keys of its own mode and its own account alone', async () => {
    const { jobId } = (await submit({ items: items(2) })).json;
    const other = await api.newCaller();
    for (const path of ['', '/item-0']) {
      assert.equal((await other.get(`/v1/pdf/batch/${jobId}${path}`)).status, 404);
    }
    assert.equal((await other.delete(`/v1/pdf/batch/${jobId}`)).status, 404);
    assert.equal((await other.get('/v1/pdf/batch')).json.total, 0);
  });

  it('keeps what items share once', async () => {
    const shared = `<p>${'shared '.repeat(1000)}</p>`;
    const seen: string[] = [];
    api.worker.render = async (job, input) => {
      if (input.source.mode === 'html' && job.accountId === caller.accountId)
        seen.push(`${job.item?.id} ${input.source.html.length} ${input.options.scale}`);
      return { pages: 1 };
    };
    const options = { scale: 0.5, headerTemplate: '<b>header</b>'.repeat(50), displayHeaderFooter: true };
    const same = Array.from({ length: 100 }, (_, i) => ({ id: `s${i}`, html: shared, options }));
    const before = await bytesOfInputs();
    const { jobId } = (await submit({ items: same })).json;
    assert.ok((await bytesOfInputs()) - before < 60_000, 'a hundred times seven kilobytes, kept once');
    await finished(jobId);
    assert.deepEqual(new Set(seen), new Set(same.map(({ id }) => `${id} ${shared.length} 0.5`)));
  });

  async function bytesOfInputs(): Promise<number> {
    let bytes = 0;
    for (const name of ['job_inputs', 'job_input_chunks']) {
      const records = await api.domain.connection.collection(name).find().toArray();
      for (const { content } of records) bytes += (content as { length(): number }).length();
    }
    return bytes;
  }
});
