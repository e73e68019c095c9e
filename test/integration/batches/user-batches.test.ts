import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import { chunkCount } from '../../../src/work/batches/batch.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { batchOf, callerWith } from './support.ts';

const ITEMS = 60;

describe('The batches of an account', () => {
  const api = useApi();
  let caller: TestCaller;
  let owner: AccountClient;
  let stranger: AccountClient;

  beforeEach(async () => {
    failing(() => false);
    caller = await api.newCaller();
    owner = await asAccount(caller);
    stranger = await asAccount(await api.newCaller());
  });

  async function asAccount({ accountId }: TestCaller): Promise<AccountClient> {
    return new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
  }

  /** From now on those documents fail of which it says so. */
  function failing(fails: (html: string) => boolean): void {
    api.worker.render = async (_job, { source }) =>
      source.mode === 'html' && fails(source.html)
        ? { fails: new PlatenError('SELECTOR_TIMEOUT') }
        : { pages: 1 };
  }

  const items = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `item-${i}`, html: `<p>${i}</p>`, filename: `f${i}` }));

  async function batch(count = 2, more: object = {}): Promise<string> {
    const { jobId } = (await caller.post('/v1/pdf/batch', { items: items(count), ...more })).json;
    return jobId;
  }

  async function ended(batchId: string) {
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
    let found: any;
    await eventually('the batch has ended', async () => {
      found = await owner.expect(200, 'GET', `/user/batches/${batchId}`);
      return found.finishedAt !== null;
    });
    return found;
  }

  it('are listed of live and of test keys, as /v1 lists them to each of these', async () => {
    const live = await batch(2, { notes: 'monthly' });
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 't', mode: 'test' });
    const asTest = await caller.call('POST', '/v1/pdf/batch', { items: items(2) }, { 'x-api-key': apiKey });
    const test = asTest.json.jobId;
    await ended(live);
    await ended(test);
    const { total, batches } = await owner.expect(200, 'GET', '/user/batches');
    const modes = batches.map(({ jobId, mode }: Record<string, string>) => [jobId, mode]);
    assert.deepEqual(
      [total, modes],
      [
        2,
        [
          [test, 'test'],
          [live, 'live'],
        ],
      ],
    );
    assert.equal((await owner.expect(200, 'GET', '/user/batches?mode=test&status=completed')).total, 1);
    const { mode, apiKeyId, apiKeyPrefix, webhookUrl, ...record } = await owner.expect(
      200,
      'GET',
      `/user/batches/${live}`,
    );
    const { items: _, ...same } = (await caller.get(`/v1/pdf/batch/${live}`)).json;
    assert.deepEqual(record, same);
    assert.deepEqual([mode, apiKeyId, webhookUrl], ['live', caller.apiKeyId, null]);
    assert.ok(caller.secret.startsWith(apiKeyPrefix));
    assert.equal((await stranger.expect(200, 'GET', '/user/batches')).total, 0);
  });

  it('list their items by state, page by page and over chunks, with the renders that they are', async () => {
    failing((html) => /<p>\d*[05]<\/p>/.test(html));
    const batchId = await batch(ITEMS);
    await ended(batchId);
    const page = (query: string) => owner.expect(200, 'GET', `/user/batches/${batchId}/items${query}`);
    assert.equal((await page('')).total, ITEMS);
    const failed = Array.from({ length: ITEMS / 5 }, (_, i) => `item-${i * 5}`);
    const seen: string[] = [];
    for (let offset = 0; offset < failed.length; offset += 5) {
      const { total, items: some } = await page(`?status=failed&limit=5&offset=${offset}`);
      assert.equal(total, failed.length);
      seen.push(...some.map(({ itemId }: { itemId: string }) => itemId));
    }
    assert.deepEqual(seen, failed);
    assert.equal((await page('?status=completed')).total, ITEMS - failed.length);
    assert.equal((await page('?status=queued')).total, 0);
    const [first] = (await page('?status=failed&limit=1')).items;
    const render = await owner.expect(200, 'GET', `/user/renders/${first.jobId}`);
    assert.deepEqual([render.status, render.attempts.length], ['failed', 1]);
    const zip = await owner.get(`/user/batches/${batchId}/zip`);
    assert.deepEqual(
      [zip.status, zip.headers.get('x-service-zip-items')],
      [200, String(ITEMS - failed.length)],
    );
    const manifest = await owner.get(`/user/batches/${batchId}/manifest`);
    assert.match(manifest.headers.get('content-disposition')!, /^attachment; filename="?[\w-]+\.json/);
    assert.equal(manifest.json.jobId, batchId);
    assert.deepEqual(
      manifest.json.items
        .filter(({ status }: { status: string }) => status === 'failed')
        .map(({ itemId }: { itemId: string }) => itemId),
      failed,
    );
  });

  it('are made without a key: test renders unless they are to be live, and once for a repeated request', async () => {
    const body = { items: items(3), notes: 'from a file' };
    const make = (more: object = {}, headers = {}) =>
      owner.call('POST', '/user/batches', { ...body, ...more }, headers);
    const tried = await make();
    assert.equal(tried.status, 202);
    assert.equal(tried.json.statusUrl, `/user/batches/${tried.json.jobId}`);
    const batch = await ended(tried.json.jobId);
    assert.deepEqual(
      [batch.mode, batch.apiKeyId, batch.job.notes, batch.progress.completed],
      ['test', null, 'from a file', 3],
    );
    const once = { 'idempotency-key': 'a press of a button' };
    const first = await make({ mode: 'live' }, once);
    const again = await make({ mode: 'live' }, once);
    assert.equal(again.json.jobId, first.json.jobId);
    assert.equal((await ended(first.json.jobId)).mode, 'live');
    assert.equal((await owner.expect(200, 'GET', '/user/batches')).total, 2);
    const double = await make({ items: [...items(2), ...items(1)] });
    assert.deepEqual(double.json.message, ['items[2] ("item-0").id: is that of items[0] as well']);
    const { maxBatchItems } = (await owner.expect(200, 'GET', '/user/plans')).plans.find(
      ({ current }: { current: boolean }) => current,
    ).limits;
    const many = await make({ items: items(maxBatchItems + 1) });
    assert.deepEqual([many.status, many.json.code], [413, 'BATCH_TOO_LARGE']);
  });

  it('are rendered again as far as they have failed, as a new batch', async () => {
    failing((html) => html === '<p>1</p>' || html === '<p>3</p>');
    const batchId = await batch(5, { notes: 'again', metadata: { a: 'b' } });
    await ended(batchId);
    const refused = async (id: string, status: number, code: string) => {
      const response = await owner.call('POST', `/user/batches/${id}/retry-failed`);
      assert.deepEqual([response.status, response.json.code], [status, code]);
    };
    failing(() => false);
    const retried = await owner.expect(202, 'POST', `/user/batches/${batchId}/retry-failed`);
    assert.deepEqual([retried.retryOf, retried.totalCount], [batchId, 2]);
    const { progress, job, apiKeyId } = await ended(retried.jobId);
    assert.deepEqual([progress.completed, progress.failed, apiKeyId], [2, 0, null]);
    assert.deepEqual([job.notes, job.metadata], ['again', { a: 'b' }]);
    const { items: done } = await owner.expect(200, 'GET', `/user/batches/${retried.jobId}/items`);
    const ids = done.map(({ itemId }: { itemId: string }) => itemId);
    assert.deepEqual(ids, ['item-1', 'item-3']);
    await refused(retried.jobId, 409, 'NOT_RETRYABLE');
    const { items: failed } = await owner.expect(200, 'GET', `/user/batches/${batchId}/items?status=failed`);
    await api.domain.store.inputs.delete([failed[0].jobId]);
    await refused(batchId, 410, 'GONE');
  });

  it('are rendered again once for an Idempotency-Key, however often it is clicked', async () => {
    failing((html) => html !== '<p>0</p>');
    const batchId = await batch(3);
    await ended(batchId);
    failing(() => false);
    const click = () =>
      owner.call('POST', `/user/batches/${batchId}/retry-failed`, undefined, {
        'idempotency-key': 'a click',
      });
    const both = await Promise.all([click(), click()]);
    const again = await click();
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
    for (const { status, json } of both)
      assert.equal(
        status === 202 ? json.jobId : json.code,
        status === 202 ? again.json.jobId : 'IDEMPOTENCY_IN_PROGRESS',
      );
    assert.equal((await owner.expect(200, 'GET', '/user/batches')).total, 2);
  });

  it('are rendered again as a whole when they failed before they had jobs', async () => {
    const { admission, store } = api.domain.batches;
    const as = { ...callerWith(api.domain.plan), accountId: caller.accountId };
    const admitted = await admission.admit(as, batchOf(ITEMS), pendingAdmission());
    const { _id, total, accountId, quotaPeriod } = admitted;
    await api.domain.ledger.undoPositions(accountId, _id, total, quotaPeriod ?? undefined);
    const failed = await store.fail(admitted);
    const retried = await owner.expect(202, 'POST', `/user/batches/${_id}/retry-failed`);
    assert.deepEqual([retried.retryOf, retried.totalCount], [_id, total]);
    assert.equal((await ended(retried.jobId)).progress.completed, total);
    await store.deleteChunks(_id, chunkCount(failed));
    const gone = await owner.call('POST', `/user/batches/${_id}/retry-failed`);
    assert.deepEqual([gone.status, gone.json.code], [410, 'GONE']);
  });

  it('are cancelled, once', async () => {
    api.worker.render = () => new Promise(() => {});
    const batchId = await batch(20);
    const response = await owner.call('POST', `/user/batches/${batchId}/retry-failed`);
    assert.deepEqual([response.status, response.json.code], [409, 'NOT_RETRYABLE']);
    await owner.expect(200, 'DELETE', `/user/batches/${batchId}`);
    const again = await owner.call('DELETE', `/user/batches/${batchId}`);
    assert.deepEqual([again.status, again.json.code], [409, 'JOB_ENDED']);
  });

  it('are nothing to another account', async () => {
    const batchId = await batch();
    await ended(batchId);
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/items'],
      ['GET', '/zip'],
      ['GET', '/manifest'],
      ['DELETE', ''],
      ['POST', '/retry-failed'],
    ] as const) {
      const theirs = await stranger.call(method, `/user/batches/${batchId}${rest}`);
      const nobodys = await stranger.call(method, `/user/batches/${randomUUID()}${rest}`);
      assert.deepEqual([theirs.status, nobodys.status], [404, 404], `${method} ${rest}`);
    }
  });
});
