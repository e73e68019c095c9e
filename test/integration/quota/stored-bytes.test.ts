import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { StoredRecount } from '../../../src/work/jobs/sweeps/recount-stored.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { signUp } from '../../support/account-client.ts';
import { newJob } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi, type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const KIB = 1024;
const MAX = 40 * KIB;
const HOUR_MS = 3_600_000;
const html = (bytes: number) => 'x'.repeat(bytes);

describe('what an account keeps', () => {
  let api: TestApi;
  let caller: TestCaller;

  before(async () => {
    const features = { callbacks: true, templateVersions: false, revealIp: true };
    const plan = { maxStoredBytes: MAX, concurrentRenders: 1, retentionHours: 1, features };
    api = await openApi({ plan });
  });
  after(() => api.close());
  beforeEach(async () => {
    api.worker.render = async () => ({ pages: 1 });
    caller = await api.newCaller();
  });

  const stored = (accountId = caller.accountId) => api.domain.stored.of(accountId);
  const counts = () => {
    const { history, live } = api.domain.store;
    return [
      (id: string) => history.storedBytes(id),
      (id: string) => live.inputBytes(id),
      (id: string) => api.domain.batches.store.keptBytes(id),
      (id: string) => api.templates.storedBytes(id),
      (id: string) => api.domain.callbacks.deliveries.storedBytes(id),
    ];
  };
  /** What is really there, once all that follows the ends of jobs is done. */
  async function present(accountId = caller.accountId): Promise<number> {
    await api.domain.flush();
    let bytes = 0;
    for (const count of counts()) bytes += await count(accountId);
    return bytes;
  }
  /** Soon: the end of a job is told before it has been followed up. */
  const assertExact = (accountId = caller.accountId) =>
    eventually(
      'what is stored is what is there',
      async () => (await present(accountId)) === (await stored(accountId)),
    );

  async function sweep(): Promise<void> {
    await api.domain.flush();
    const { batches, store, stored, clock } = api.domain;
    await endBatchRetention({ batches: batches.store, store, stored, outputs: api.outputs }, clock.now());
    await endRetention({ history: store.history, stored }, api.outputs, clock.now());
  }

  /** Nothing renders until it is opened. */
  function hold() {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    return gate;
  }

  const rejection = async (asked: ReturnType<TestCaller['render']>) => {
    const { status, json } = await asked;
    return `${status} ${json.code}`;
  };

  it('is bounded by its plan: inputs while they wait, then PDFs until their retention ends', async () => {
    const gate = hold();
    const submit = (bytes: number) => caller.render({ html: html(bytes), executionMode: 'async' });
    const first = (await submit(30 * KIB)).json.jobId;
    assert.ok((await stored()) > 30 * KIB);
    assert.equal(await rejection(submit(15 * KIB)), '403 STORAGE_FULL');
    assert.equal((await submit(5 * KIB)).status, 202);
    gate.open();
    await eventually(
      'both have ended',
      async () => (await caller.get('/v1/pdf/jobs?status=completed')).json.total === 2,
    );
    const { pdfSize } = (await caller.get(`/v1/pdf/jobs/${first}`)).json;
    await assertExact();
    assert.equal(await stored(), 2 * pdfSize);
    assert.equal((await caller.render({ html: html(30 * KIB) })).status, 200);
    await assertExact();
    api.domain.clock.pass(2 * HOUR_MS);
    await sweep();
    assert.deepEqual([await stored(), await present()], [0, 0]);
  });

  it('holds the inputs of jobs that have failed', async () => {
    api.worker.render = async () => ({ fails: new PlatenError('RENDER_FAILED') });
    assert.equal((await caller.render({ html: html(30 * KIB) })).status, 500);
    assert.equal(await rejection(caller.render({ html: html(15 * KIB) })), '403 STORAGE_FULL');
    await assertExact();
  });

  it('fails a job that has waited when its account is full by then', async () => {
    const gate = hold();
    const submit = async () => (await caller.render({ html: 'x', executionMode: 'async' })).json.jobId;
    const [first, second] = [await submit(), await submit()];
    // As larger PDFs than any here would have filled it.
    await api.domain.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: caller.accountId }, { $inc: { stored: MAX } });
    gate.open();
    const record = async (id: string) => (await caller.get(`/v1/pdf/jobs/${id}`)).json;
    await eventually('both have ended', async () => (await record(second)).completedAt !== null);
    assert.equal((await record(first)).status, 'completed');
    assert.equal((await record(second)).error.code, 'STORAGE_FULL');
  });

  it('counts a batch, all of it or none, and what its items share once', async () => {
    const items = ['a', 'b', 'c'].map((id) => ({ id, html: html(12 * KIB) }));
    const post = (some: object[]) => caller.post('/v1/pdf/batch', { items: some });
    const dedicated = items.map((item, i) => ({ ...item, html: `${i}${item.html}${i}` }));
    assert.equal(await rejection(post([...dedicated, { id: 'd', html: html(5 * KIB) }])), '403 STORAGE_FULL');
    assert.equal(await stored(), 0);
    const gate = hold();
    const { jobId } = (await post(items)).json;
    const bytes = await stored();
    assert.ok(bytes > 13 * KIB && bytes < 16 * KIB, String(bytes));
    gate.open();
    const batch = async () => (await caller.get(`/v1/pdf/batch/${jobId}`)).json;
    await eventually('it has ended', async () => (await batch()).finishedAt !== null);
    await assertExact();
    api.domain.clock.pass(3 * HOUR_MS);
    await sweep();
    const known = await stored();
    assert.ok(known > KIB && known < 2 * KIB, `what is known of it: ${known}`);
    await assertExact();
    api.domain.clock.pass(91 * 24 * HOUR_MS);
    await sweep();
    assert.deepEqual([await stored(), await present()], [0, 0]);
    api.domain.clock.pass(-(91 * 24 + 3) * HOUR_MS);
  });

  it('counts the records of batches, so that submitting and cancelling repeatedly reaches the limit', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`key-${i}`, 'x'.repeat(500)]));
    const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
    const gate = hold();
    const taken: string[] = [];
    for (let status = 202; status === 202; ) {
      const response = await caller.post('/v1/pdf/batch', { items, metadata });
      status = response.status;
      if (status === 202) {
        taken.push(`/v1/pdf/batch/${response.json.jobId}`);
        assert.equal((await caller.delete(taken.at(-1)!)).status, 200);
      } else assert.equal(response.json.code, 'STORAGE_FULL');
      assert.ok(taken.length < 10, 'there is no end');
    }
    assert.ok(taken.length > 1, `${taken.length}`);
    gate.open();
    for (const batch of taken)
      await eventually('it has ended', async () => (await caller.get(batch)).json.finishedAt !== null);
    await eventually('all have ended', async () => (await stored()) === (await present()));
    api.domain.clock.pass(3 * HOUR_MS);
    await sweep();
    assert.equal((await caller.post('/v1/pdf/batch', { items, metadata })).status, 403, 'not yet');
    api.domain.clock.pass(91 * 24 * HOUR_MS);
    await sweep();
    assert.equal(await stored(), 0);
    api.domain.clock.pass(-(91 * 24 + 3) * HOUR_MS);
  });

  it('holds templates: a plan without history keeps their latest version alone', async () => {
    const owner = await signUp(api.url);
    const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'professional');
    const draft = { name: 't', content: html(30 * KIB), sampleData: '{}' };
    const { id } = await owner.expect(201, 'POST', '/user/templates', draft);
    assert.equal(await stored(accountId), 30 * KIB + 2);
    assert.equal((await owner.expect(403, 'POST', '/user/templates', draft)).code, 'STORAGE_FULL');
    for (let i = 0; i < 3; i += 1) {
      await owner.expect(200, 'PATCH', `/user/templates/${id}`, { content: html(i * KIB + 1) });
      await assertExact(accountId);
    }
    assert.equal(await stored(accountId), 2 * KIB + 3);
    assert.equal(
      await api.domain.connection.collection('template_versions').countDocuments({ templateId: id }),
      1,
    );
    await owner.expect(403, 'PATCH', `/user/templates/${id}`, { content: html(39 * KIB) });
    await owner.expect(200, 'DELETE', `/user/templates/${id}`);
    assert.deepEqual([await stored(accountId), await present(accountId)], [0, 0]);
  });

  it('is given back by the sweep where an admission has died before it wrote its job', async () => {
    const { domain } = api;
    const { job } = newJob(caller.accountId);
    await domain.ledger.takeSlot(caller.accountId, job._id, 1, undefined, { bytes: 1000, max: MAX });
    const admission = { id: `${job._id}0`, jobs: [`${job._id}0`], queue: 'bulk' } as const;
    const limits = { maxWaiting: 10, quota: undefined, stored: { bytes: 500, max: MAX } };
    await domain.ledger.takePositions(caller.accountId, admission, limits);
    assert.equal(await stored(), 1500);
    domain.clock.pass(11_000);
    const ledgers = (await domain.ledger.active()).filter(({ _id }) => _id === caller.accountId);
    const deps = { ...domain, redeliveryMs: 5000, retryBaseMs: 1000, random: () => 1, onRetried: () => {} };
    await repairInterruptedJobs(deps, ledgers);
    assert.equal(await stored(), 0);
  });

  it('is counted anew where it is wrong, and only once nothing is on its way', async () => {
    const recount = new StoredRecount({ ...api.domain, counts: counts() });
    const ledgers = api.domain.connection.collection<{ _id: string }>('ledgers');
    const spoil = () =>
      ledgers.updateOne({ _id: caller.accountId }, { $set: { stored: 99_999 }, $inc: { revision: 1 } });
    await caller.completed();
    await assertExact();
    const right = await stored();
    await spoil();
    await recount.run();
    assert.equal(await stored(), 99_999, 'it may still change');
    await recount.run();
    assert.equal(await stored(), right);
    // Once a job is on its way nothing is counted.
    const gate = hold();
    await caller.render({ html: 'x', executionMode: 'async' }).catch(() => undefined);
    await spoil();
    for (let i = 0; i < 3; i += 1) await recount.run();
    assert.equal(await stored(), 99_999);
    gate.open();
  });
});

describe('test renders', () => {
  const api = useApi({ plan: { maxTestRendersPerDay: 3, monthlyRenders: 100 } });

  it('are bounded by day, batches all or none; live renders go on', async () => {
    // Far from the next midnight.
    api.domain.clock.pass(24 * HOUR_MS - (api.domain.clock.now().getTime() % (24 * HOUR_MS)));
    const tester = await api.newCaller({ mode: 'test' });
    const live = await api.newCaller();
    const BODY = { html: '<p>x</p>' };
    const batch = (count: number) =>
      tester.post('/v1/pdf/batch', {
        items: Array.from({ length: count }, (_, i) => ({ id: `${i}`, ...BODY })),
      });
    assert.equal((await tester.render(BODY)).status, 200);
    const tooMany = await batch(3);
    assert.deepEqual([tooMany.status, tooMany.json.code], [403, 'TEST_QUOTA_EXCEEDED']);
    assert.match(tooMany.json.message, /^Of the 3 test renders of this day 2 are left until midnight UTC/);
    assert.equal((await batch(2)).status, 202);
    const refused = await tester.render(BODY);
    assert.deepEqual([refused.status, refused.json.code], [403, 'TEST_QUOTA_EXCEEDED']);
    for (let i = 0; i < 5; i += 1) assert.equal((await live.render(BODY)).status, 200);
    api.domain.clock.pass(24 * HOUR_MS);
    assert.equal((await tester.render(BODY)).status, 200);
    // What was counted on the day that is over is forgotten when the account is counted anew.
    await api.domain.flush();
    const recount = new StoredRecount({ ...api.domain, counts: [] });
    for (let i = 0; i < 2; i += 1) await recount.run();
    const { quota } = (await api.domain.ledger.find(tester.accountId))!;
    assert.deepEqual(Object.values(quota ?? {}), [1]);
  });
});
