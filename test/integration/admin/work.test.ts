import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { WorkerRegistry } from '../../../src/work/pools/worker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestApi } from '../http/support/api.ts';
import { MARKER, SECRET, type TestAdmin, useAdmin } from './support/admin.ts';

describe('Work in the administration', () => {
  const opened = useAdmin();
  let api: TestApi;
  let admin: TestAdmin;
  before(() => {
    ({ api, admin } = opened);
  });

  describe('work', () => {
    it('is shown by pool and account while it runs, and the worker that holds it', async () => {
      const caller = await api.newCaller();
      let end = () => {};
      const held = new Promise<void>((resolve) => {
        end = resolve;
      });
      api.worker.render = async () => {
        await held;
        return { pages: 1 };
      };
      const { jobId } = (await caller.render(SECRET)).json;
      try {
        await eventually('the job runs', async () => {
          const { state } = await admin.ok('GET', `/admin/api/jobs/${jobId}`);
          return state === 'processing';
        });
        const queue = await admin.ok('GET', '/admin/api/queue');
        const own = queue.accounts.find(
          ({ accountId }: { accountId: string }) => accountId === caller.accountId,
        );
        assert.equal(own.inFlight, 1);
        assert.deepEqual(own.reasons, []);
        const [pool] = queue.pools.filter(({ pool }: { pool: string }) => pool === 'default');
        assert.equal(pool.running.interactive + pool.running.bulk, 1);
        const { rows } = await admin.ok('GET', '/admin/api/workers');
        const worker = rows.find(({ id }: { id: string }) => id === 'test worker');
        assert.deepEqual(
          worker.jobs.map(({ id, accountId }: { id: string; accountId: string }) => [id, accountId]),
          [[jobId, caller.accountId]],
        );
        const running = await admin.allRows(`/admin/api/jobs?state=running&accountId=${caller.accountId}`);
        assert.deepEqual(
          running.map(({ id }) => id),
          [jobId],
        );
        const cancelled = await admin.ok('POST', `/admin/api/jobs/${jobId}/cancel`);
        assert.equal(cancelled.state, 'cancelled');
        assert.equal((await admin.call('POST', `/admin/api/jobs/${jobId}/cancel`)).json.code, 'JOB_ENDED');
      } finally {
        end();
      }
      const [act] = await admin.audited('job.cancelled');
      assert.deepEqual([act!.operator, act!.targetId], ['anna', jobId]);
      await eventually('it is in the list of its account', async () => {
        const ended = await admin.allRows(`/admin/api/jobs?state=cancelled&accountId=${caller.accountId}`);
        return ended.length === 1 && ended[0].id === jobId;
      });
    });

    it('that waits says why: for a retry that is not due, or because its account is suspended', async () => {
      api.worker.render = async () => ({ retries: new PlatenError('RENDER_FAILED', MARKER) });
      const caller = await api.newCaller();
      const { jobId } = (await caller.render(SECRET)).json;
      await eventually('it waits for its next attempt', async () => {
        const { nextAttemptAt } = await admin.ok('GET', `/admin/api/jobs/${jobId}`);
        return nextAttemptAt !== null;
      });
      const shown = async () => {
        const queue = await admin.ok('GET', '/admin/api/queue?limit=200');
        return queue.accounts.find(({ accountId }: { accountId: string }) => accountId === caller.accountId);
      };
      const waiting = await shown();
      assert.deepEqual([waiting.retries, waiting.reasons], [1, ['retry_not_due']]);
      assert.ok(waiting.nextRetryAt !== null);
      await admin.ok('POST', `/admin/api/accounts/${caller.accountId}/suspend`, { reason: 'x' });
      const suspended = await shown();
      assert.deepEqual(suspended.reasons, ['account_suspended', 'retry_not_due']);
      assert.equal(suspended.concurrentRenders, 0);
      const { done } = await admin.ok('POST', '/admin/api/jobs/cancel', {
        filter: { state: 'waiting', accountId: caller.accountId },
      });
      assert.equal(done, 1);
    });

    it('of a worker that reports is drained, and claimed again', async () => {
      const registry = new WorkerRegistry(api.domain.connection, api.domain.clock);
      const report = () =>
        registry.report({
          ...{ _id: 'reporting worker', pool: 'default', pod: 'pod-1', namespace: 'platen', node: 'node-1' },
          ...{ slots: 2, busy: 0, state: 'claiming', startedAt: api.domain.clock.now() },
          ...{ sandbox: 'on', browser: 'Chromium/1' },
        });
      await report();
      const path = '/admin/api/workers/reporting%20worker';
      await admin.ok('POST', `${path}/drain`);
      assert.equal((await report()).drainRequested, true);
      // What a controller requests does not undo it.
      await registry.cancelPause(['reporting worker']);
      assert.equal((await report()).drainRequested, true);
      const { rows } = await admin.ok('GET', '/admin/api/workers');
      const shown = rows.find(({ id }: { id: string }) => id === 'reporting worker');
      assert.deepEqual([shown.draining, shown.slots, shown.browser], [true, 2, 'Chromium/1']);
      await admin.ok('POST', `${path}/resume`);
      assert.equal((await report()).drainRequested, undefined);
      assert.equal((await admin.call('POST', '/admin/api/workers/nobody/drain')).status, 404);
      const acts = [...(await admin.audited('worker.drained')), ...(await admin.audited('worker.resumed'))];
      assert.deepEqual(
        acts.map(({ action, operator, targetId }) => [action, operator, targetId]),
        [
          ['worker.drained', 'anna', 'reporting worker'],
          ['worker.resumed', 'anna', 'reporting worker'],
        ],
      );
    });
  });
});
