import assert from 'node:assert/strict';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import { endCallbacks } from '../../../src/work/callbacks/retention.ts';
import { callbackBytes } from '../../../src/work/jobs/job.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';

const DAY_MS = 86_400_000;
const URL = 'https://127.9.9.1/hook';
const MAX = 80 * 1024;

describe('records of callbacks', () => {
  let api: TestApi;
  let caller: TestCaller;

  before(async () => {
    const features = { callbacks: true, templateVersions: false, revealIp: true };
    api = await openApi({ plan: { maxStoredBytes: MAX, retentionHours: 1, features } });
  });
  after(() => api.close());
  beforeEach(async () => {
    caller = await api.newCaller();
  });

  const request = { html: '<p>x</p>', executionMode: 'async', webhookUrl: URL };
  const stored = () => api.domain.stored.of(caller.accountId);
  const ownBytes = () => api.domain.callbacks.deliveries.storedBytes(caller.accountId);

  /** Passes `ms` milliseconds, and has expired records deleted. */
  async function pass(ms: number): Promise<void> {
    const { batches, store, stored, clock, callbacks } = api.domain;
    await api.domain.flush();
    clock.pass(ms);
    await endRetention({ history: store.history, stored }, api.outputs, clock.now());
    await endBatchRetention({ batches: batches.store, store, stored, outputs: api.outputs }, clock.now());
    await endCallbacks(callbacks.deliveries, stored, clock.now());
  }

  it("count towards the account's storage, from the end of the render until they are deleted", async () => {
    const { jobId } = (await caller.post('/v1/pdf', request)).json;
    const record = async () => (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
    await eventually('its end', async () => (await record()).status === 'completed');
    const { pdfSize } = await record();
    await eventually('its callback is ordered', async () => (await ownBytes()) > 0);
    assert.equal(await ownBytes(), callbackBytes(URL));
    await eventually('it is counted', async () => (await stored()) === pdfSize + callbackBytes(URL));
    await pass(2 * 3_600_000);
    assert.equal(await stored(), callbackBytes(URL), 'the PDF is gone');
    await pass(89 * DAY_MS);
    assert.equal(await stored(), callbackBytes(URL));
    await pass(DAY_MS);
    assert.deepEqual([await stored(), await ownBytes()], [0, 0]);
  });

  it('are given back to each account separately', async () => {
    const callers = [caller, await api.newCaller()];
    for (const [i, each] of callers.entries())
      for (let n = 0; n <= i; n += 1) await each.post('/v1/pdf', request);
    const bytes = () => Promise.all(callers.map(({ accountId }) => api.domain.stored.of(accountId)));
    await eventually('all are ordered', async () => {
      const { deliveries } = api.domain.callbacks;
      const own = await Promise.all(callers.map(({ accountId }) => deliveries.storedBytes(accountId)));
      return own.join() === [callbackBytes(URL), 2 * callbackBytes(URL)].join();
    });
    await pass(2 * 3_600_000);
    assert.deepEqual(await bytes(), [callbackBytes(URL), 2 * callbackBytes(URL)]);
    await pass(91 * DAY_MS);
    assert.deepEqual(await bytes(), [0, 0]);
  });

  it('are bounded for an account that schedules and cancels again and again', async () => {
    api.worker.render = () => new Promise(() => undefined);
    let accepted = 0;
    for (; accepted < 100; accepted += 1) {
      const { status, json } = await caller.post('/v1/pdf', request);
      if (status === 403) {
        assert.equal(json.code, 'STORAGE_FULL');
        break;
      }
      assert.equal((await caller.delete(`/v1/pdf/jobs/${json.jobId}`)).status, 200);
      await api.domain.flush();
    }
    assert.ok(accepted >= 5 && accepted <= Math.ceil(MAX / callbackBytes(URL)), `${accepted} were let in`);
    await pass(91 * DAY_MS);
    assert.equal((await caller.post('/v1/pdf', request)).status, 202, 'there is room again');
  });

  it('of a batch count with its record, and are not given back twice', async () => {
    api.worker.render = async () => ({ pages: 1 });
    const items = ['a', 'b'].map((id) => ({ id, html: 'x' }));
    const keep = async (body: object) => {
      caller = await api.newCaller();
      const { jobId } = (await caller.post('/v1/pdf/batch', body)).json;
      const path = `/v1/pdf/batch/${jobId}`;
      await eventually('its end', async () => (await caller.get(path)).json.finishedAt !== null);
      await pass(2 * 3_600_000);
      return await stored();
    };
    const without = await keep({ items });
    assert.equal(await keep({ items, webhookUrl: URL }), without + callbackBytes(URL));
    const { total } = await api.domain.callbacks.deliveries.list(caller.accountId, {
      ...{ limit: 1, offset: 0, newestFirst: true },
    });
    assert.equal(total, 1);
    assert.equal(await ownBytes(), 0);
    await pass(95 * DAY_MS);
    await pass(DAY_MS);
    assert.equal(await stored(), 0);
  });
});
