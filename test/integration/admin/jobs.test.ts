import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestApi } from '../http/support/api.ts';
import { MARKER, type TestAdmin, useAdmin } from './support/admin.ts';

describe('Jobs in the administration', () => {
  const opened = useAdmin();
  let api: TestApi;
  let admin: TestAdmin;
  before(() => {
    ({ api, admin } = opened);
  });

  describe('jobs', () => {
    it('that failed are listed over all accounts, by code, account and time, page by page', async () => {
      const from = new Date().toISOString();
      const one = await admin.failedJobs(3, 'RENDER_TIMEOUT');
      const other = await admin.failedJobs(2, 'URL_UNREACHABLE');
      const of = async (query: string) =>
        (await admin.allRows(`/admin/api/jobs?limit=2&from=${from}${query}`)).map(({ id }) => id);
      assert.deepEqual((await of('')).sort(), [...one.ids, ...other.ids].sort());
      assert.deepEqual((await of('&errorCode=RENDER_TIMEOUT')).sort(), [...one.ids].sort());
      assert.deepEqual((await of(`&accountId=${other.accountId}`)).sort(), [...other.ids].sort());
      assert.deepEqual(await of(`&templateId=${randomUUID()}`), []);
      assert.deepEqual(
        await admin.allRows(`/admin/api/jobs?to=${from}&from=2020-01-01T00:00:00Z&errorCode=INTERNAL`),
        [],
      );
      const detail = await admin.ok('GET', `/admin/api/jobs/${one.ids[0]}`);
      assert.equal(detail.errorCode, 'RENDER_TIMEOUT');
    });

    it('that failed within a time with a code are rendered again, some with each request', async () => {
      const from = new Date().toISOString();
      const { ids, accountId } = await admin.failedJobs(5);
      await admin.failedJobs(1, 'RENDER_TIMEOUT');
      const filter = { errorCode: 'URL_UNREACHABLE', from };
      const first = await admin.ok('POST', '/admin/api/jobs/retry', { filter, limit: 2 });
      assert.deepEqual([first.done, first.skipped], [2, {}]);
      const second = await admin.ok('POST', '/admin/api/jobs/retry', { cursor: first.cursor, limit: 2 });
      assert.equal(second.done, 4);
      // A request whose response was lost is repeated.
      const again = await admin.ok('POST', '/admin/api/jobs/retry', { cursor: first.cursor, limit: 2 });
      assert.equal(again.done, 4);
      const third = await admin.ok('POST', '/admin/api/jobs/retry', { cursor: second.cursor, limit: 2 });
      assert.deepEqual([third.done, third.cursor], [5, null]);
      await eventually('each was rendered once more', async () => {
        const completed = await admin.allRows(
          `/admin/api/jobs?state=completed&accountId=${accountId}&limit=2`,
        );
        const repeated = completed.map((job) => job.retryOf);
        assert.ok(repeated.length <= 5);
        return repeated.length === 5 && ids.every((id) => repeated.includes(id));
      });
      const acts = await admin.audited('job.retried');
      const own = acts.filter((entry) => entry.accountId === accountId);
      assert.ok(own.length >= 3);
      assert.ok(
        own.every(({ operator, details }) => operator === 'anna' && details.errorCode === 'URL_UNREACHABLE'),
      );
    });

    it('of suspended accounts are not rendered again, and counted with the code', async () => {
      const from = new Date().toISOString();
      const { ids, accountId } = await admin.failedJobs(2);
      await admin.ok('POST', `/admin/api/accounts/${accountId}/suspend`, { reason: 'x' });
      const result = await admin.ok('POST', '/admin/api/jobs/retry', { filter: { from, accountId } });
      assert.deepEqual(result, { done: 0, skipped: { ACCOUNT_SUSPENDED: 2 }, cursor: null });
      const one = await admin.call('POST', `/admin/api/jobs/${ids[0]}/retry`);
      assert.equal(one.json.code, 'ACCOUNT_SUSPENDED');
    });

    it('are rendered again one by one, unless they have completed', async () => {
      const { ids, caller } = await admin.failedJobs(1);
      const { jobId } = await admin.ok('POST', `/admin/api/jobs/${ids[0]}/retry`);
      await eventually('it has completed', async () => {
        const job = await admin.ok('GET', `/admin/api/jobs/${jobId}`);
        return job.state === 'completed' && job.retryOf === ids[0];
      });
      assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}`)).status, 200);
      assert.equal((await admin.call('POST', `/admin/api/jobs/${jobId}/retry`)).json.code, 'NOT_RETRYABLE');
    });

    it('wait for the installation to take work: the operation goes on where it was', async () => {
      const from = new Date().toISOString();
      const { accountId } = await admin.failedJobs(2);
      const filter = { from, accountId };
      const { cursor } = await admin.ok('POST', '/admin/api/jobs/retry', { filter, limit: 1 });
      api.state.rejection = new PlatenError('UNAVAILABLE', 'full');
      assert.equal((await admin.call('POST', '/admin/api/jobs/retry', { cursor })).status, 503);
      api.state.rejection = undefined;
      const end = await admin.ok('POST', '/admin/api/jobs/retry', { cursor });
      assert.deepEqual([end.done, end.skipped], [2, {}]);
    });

    it('that are items of a batch are left to the batch', async () => {
      const from = new Date().toISOString();
      api.worker.render = async () => ({ fails: new PlatenError('RENDER_TIMEOUT', MARKER) });
      const caller = await api.newCaller();
      const items = ['1', '2'].map((n) => ({ id: MARKER + n, html: `<p>${MARKER}</p>` }));
      const accepted = await caller.post('/v1/pdf/batch', { items, metadata: { a: MARKER } });
      assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString());
      const batchId = accepted.json.jobId;
      const path = `/admin/api/jobs?from=${from}&accountId=${caller.accountId}`;
      await eventually('they have failed', async () => (await admin.allRows(path)).length === 2);
      for (const item of await admin.allRows(path)) assert.equal(item.batchId, batchId);
      const { accountId } = caller;
      const result = await admin.ok('POST', '/admin/api/jobs/retry', { filter: { from, accountId } });
      assert.deepEqual(result, { done: 0, skipped: { NOT_RETRYABLE: 2 }, cursor: null });
    });

    it('are not chosen by conditions that do not go together', async () => {
      const bad = async (body: unknown, act = 'retry') => {
        const reply = await admin.call('POST', `/admin/api/jobs/${act}`, body);
        assert.equal(reply.status, 400);
        assert.equal(reply.json.code, 'VALIDATION');
      };
      await bad({});
      await bad({ filter: {}, cursor: 'x' });
      await bad({ cursor: 'x' });
      await bad({ filter: { state: 'waiting' } });
      await bad({ filter: { state: 'failed' } }, 'cancel');
      assert.equal((await admin.call('GET', '/admin/api/jobs?state=completed')).status, 400);
      assert.equal((await admin.call('GET', '/admin/api/jobs?cursor=x')).status, 400);
      assert.equal((await admin.call('GET', `/admin/api/jobs/${randomUUID()}`)).status, 404);
    });
  });
});
