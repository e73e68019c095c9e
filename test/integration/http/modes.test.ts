import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const BODY = { html: '<p>x</p>' };

describe('Live and test keys of one account', () => {
  const api = useApi();
  let live: TestCaller;
  let tester: TestCaller;

  beforeEach(async () => {
    api.worker.render = async () => ({ pages: 1 });
    live = await api.newCaller();
    const fields = { name: 'test', mode: 'test', allowedIps: [] } as const;
    const { key, secret } = await api.keys.create(live.accountId, fields);
    tester = new TestCaller(api.url, live.accountId, key._id, secret);
  });

  it('find and list only jobs of their own mode', async () => {
    const [ofLive, ofTester] = [await live.completed(), await tester.completed()];
    for (const [who, own, others] of [
      [live, ofLive, ofTester],
      [tester, ofTester, ofLive],
    ] as const) {
      for (const rest of ['', '/file', '/download-url']) {
        assert.equal((await who.get(`/v1/pdf/jobs/${own}${rest}`)).status, 200);
        assert.equal((await who.get(`/v1/pdf/jobs/${others}${rest}`)).status, 404);
      }
      for (const flushed of [false, true]) {
        if (flushed) await api.domain.flush();
        const { total, jobs } = (await who.get('/v1/pdf/jobs')).json;
        assert.deepEqual([total, jobs.map(({ jobId }: { jobId: string }) => jobId)], [1, [own]]);
      }
      // A signed address that its own key has requested works without a key.
      const { url } = (await who.get(`/v1/pdf/jobs/${own}/download-url`)).json;
      assert.equal((await fetch(url)).status, 200);
    }
  });

  it('cancel only jobs of their own mode', async () => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    const { jobId } = (await live.render({ ...BODY, executionMode: 'async' })).json;
    assert.equal((await tester.delete(`/v1/pdf/jobs/${jobId}`)).status, 404);
    assert.equal((await live.get(`/v1/pdf/jobs/${jobId}`)).json.status === 'cancelled', false);
    assert.equal((await live.delete(`/v1/pdf/jobs/${jobId}`)).status, 200);
    gate.open();
  });

  it('have separate Idempotency-Keys, so that no live request gets the PDF of a test', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await tester.render(BODY, key);
    const second = await live.render(BODY, key);
    assert.equal(second.headers.get('idempotent-replayed'), null);
    const [ofTester, ofLive] = [first, second].map(({ headers }) => headers.get('x-service-job-id')!);
    assert.notEqual(ofTester, ofLive);
    for (const [who, own] of [
      [tester, ofTester],
      [live, ofLive],
    ] as const) {
      const again = await who.render(BODY, key);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(again.headers.get('x-service-job-id'), own);
    }
    assert.equal((await live.post('/v1/pdf', { html: '<p>y</p>' }, key)).status, 409);
  });

  it('have a report of what they try, unless they do without; live renders and batches have one if they ask', async () => {
    const hasReport = async (who: TestCaller, body: object) => {
      const jobId = (await who.render({ ...BODY, ...body })).headers.get('x-service-job-id');
      return (await who.get(`/v1/pdf/jobs/${jobId}`)).json.reportEndpoint !== undefined;
    };
    const asked = [];
    for (const body of [{}, { report: false }, { options: { report: false } }])
      asked.push(await hasReport(tester, body));
    for (const body of [{}, { report: true }]) asked.push(await hasReport(live, body));
    assert.deepEqual(asked, [true, false, false, false, true]);
    const owner = new AccountClient(api.url, (await api.tenants.tokens.issue(live.accountId)).token);
    for (const mode of ['test', 'live']) {
      const { jobId } = await owner.expect(202, 'POST', '/user/renders', { ...BODY, mode });
      await eventually('its record has the report', async () => {
        const { completedAt, reportEndpoint } = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
        return completedAt !== null && reportEndpoint === `/v1/pdf/jobs/${jobId}/report`;
      });
    }
    const items = [
      { id: 'one', ...BODY },
      { id: 'two', ...BODY, report: true },
    ];
    const { jobId } = (await tester.post('/v1/pdf/batch', { items })).json;
    await eventually('the item that asked for one has a report, and no other', async () => {
      const batch = (await tester.get(`/v1/pdf/batch/${jobId}`)).json;
      const endpoints = batch.items.map(({ reportEndpoint }: { reportEndpoint?: string }) => reportEndpoint);
      return batch.status === 'completed' && endpoints[0] === undefined && endpoints[1] !== undefined;
    });
  });

  describe('with batches', () => {
    const BATCH = {
      items: [
        { id: 'one', ...BODY },
        { id: 'two', ...BODY },
      ],
    };

    async function completedBatch(who: TestCaller): Promise<string> {
      const { jobId } = (await who.post('/v1/pdf/batch', BATCH)).json;
      const ended = async () => (await who.get(`/v1/pdf/batch/${jobId}`)).json.status === 'completed';
      await eventually('the batch has ended', ended);
      return jobId;
    }

    it('find, list, follow, zip and merge only batches of their own mode', async () => {
      const [ofLive, ofTester] = [await completedBatch(live), await completedBatch(tester)];
      const ways = [
        '',
        '/one',
        '/items/one/download-url',
        '/events',
        '/zip',
        '/pdf',
        '/manifest/download-url',
      ];
      for (const [who, own, others] of [
        [live, ofLive, ofTester],
        [tester, ofTester, ofLive],
      ] as const) {
        for (const way of ways) {
          assert.equal((await who.get(`/v1/pdf/batch/${own}${way}`)).status, 200, `own batch${way}`);
          const rejected = await who.get(`/v1/pdf/batch/${others}${way}`);
          assert.deepEqual([rejected.status, rejected.json.code], [404, 'NOT_FOUND'], `other batch${way}`);
        }
        const { total, batches } = (await who.get('/v1/pdf/batch')).json;
        assert.deepEqual([total, batches.map(({ jobId }: { jobId: string }) => jobId)], [1, [own]]);
      }
    });

    it('cannot cancel or follow a running batch of the other mode', async () => {
      const gate = latch();
      api.worker.render = async () => {
        await gate.opened;
        return { pages: 1 };
      };
      for (const [who, other] of [
        [live, tester],
        [tester, live],
      ] as const) {
        const { jobId } = (await who.post('/v1/pdf/batch', BATCH)).json;
        for (const way of ['', '/one', '/events', '/zip', '/pdf'])
          assert.equal((await other.get(`/v1/pdf/batch/${jobId}${way}`)).status, 404, way);
        assert.equal((await other.delete(`/v1/pdf/batch/${jobId}`)).status, 404);
        // Its items are admitted after the response.
        const runs = async () => (await who.get(`/v1/pdf/batch/${jobId}`)).json.status === 'processing';
        await eventually('it runs', runs);
        assert.equal((await who.delete(`/v1/pdf/batch/${jobId}`)).status, 200);
      }
      gate.open();
    });

    it('have separate Idempotency-Keys', async () => {
      const key = { 'idempotency-key': randomUUID() };
      const first = await tester.post('/v1/pdf/batch', BATCH, key);
      const second = await live.post('/v1/pdf/batch', BATCH, key);
      assert.deepEqual([first.status, second.status], [202, 202]);
      assert.notEqual(first.json.jobId, second.json.jobId);
      assert.equal(second.headers.get('idempotent-replayed'), null);
      for (const [who, own] of [
        [tester, first],
        [live, second],
      ] as const) {
        const again = await who.post('/v1/pdf/batch', BATCH, key);
        assert.equal(again.headers.get('idempotent-replayed'), 'true');
        assert.equal(again.json.jobId, own.json.jobId);
      }
    });
  });
});
