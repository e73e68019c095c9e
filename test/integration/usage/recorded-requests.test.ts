import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const BODY = { html: '<p>x</p>' };

describe('What is recorded of requests for renders', () => {
  const api = useApi({ plan: { requestsPerMinute: 30, monthlyRenders: 8 } });
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
  });

  async function usage() {
    const { domain } = api;
    await domain.flush();
    const reader = { accountId: caller.accountId, planName: 'professional' as const, plan: domain.plan };
    const summary = await domain.usage.reports.summary(reader, '1d', true);
    await domain.requestLog.flush();
    const paging = { period: '1d' as const, limit: 100, offset: 0, newestFirst: false };
    const log = await domain.usage.reports.requestLog(reader, paging);
    assert.equal(log.total, log.logs.length, 'the totals are those of the rows');
    assert.equal(log.summary.successCount, log.logs.filter(({ status }) => status === 'success').length);
    return { summary, log };
  }

  it('a success: one entry with its key, its address and its path; one request, one PDF less', async () => {
    const before = api.domain.clock.now();
    await caller.render(BODY);
    const { summary, log } = await usage();
    const [{ _id, createdAt, jobId, durationMs, ...entry }] = log.logs as [(typeof log.logs)[0]];
    assert.match(_id, /^[0-9a-f-]{36}$/);
    assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}`)).status, 200);
    assert.ok(createdAt >= before && createdAt <= api.domain.clock.now());
    assert.ok(durationMs! >= 0);
    assert.deepEqual(entry, {
      apiKeyId: caller.apiKeyId,
      apiKeyPrefix: caller.secret.slice(0, entry.apiKeyPrefix.length),
      endpoint: '/v1/pdf',
      ipAddress: '127.0.0.1',
      ...{ method: 'POST', statusCode: 200 },
      status: 'success',
      errorReason: null,
    });
    assert.deepEqual(log.endpointOptions, ['/v1/pdf']);
    assert.equal(summary.totalRequests, 1);
    assert.equal(summary.successCount, 1);
    assert.equal(summary.remaining, 7);
  });

  it('every kind of request counts once, whatever came of it', async () => {
    // Each at a time of its own: those of the same millisecond have no order.
    const { clock } = api.domain;
    await caller.render(BODY);
    clock.pass(10);
    await caller.render({ html: '' });
    clock.pass(10);
    await caller.render('{');
    clock.pass(10);
    api.worker.render = async () => ({ fails: new PlatenError('RENDER_TIMEOUT') });
    assert.equal((await caller.render(BODY)).status, 504);
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    const { json } = await caller.render({ ...BODY, executionMode: 'async' });
    assert.equal((await caller.call('DELETE', `/v1/pdf/jobs/${json.jobId}`)).status, 200);
    gate.open();
    api.worker.render = async () => ({ pages: 1 });
    const name = { 'idempotency-key': randomUUID() };
    for (let i = 0; i < 3; i += 1) assert.equal((await caller.render(BODY, name)).status, 200);
    const { summary, log } = await usage();
    // Two successes, two faults of form, one time-out, one cancelled; what was only said again is not among them.
    assert.equal(summary.totalRequests, 6);
    assert.equal(summary.successCount, 2);
    assert.deepEqual(summary.errorsByCategory, { validation: 2, render: 0, timeout: 1, cancelled: 1 });
    assert.equal(summary.remaining, 6);
    assert.deepEqual(
      log.logs.map(({ errorReason }) => errorReason),
      [null, 'VALIDATION', 'MALFORMED_JSON', 'RENDER_TIMEOUT', null, null, null, null],
    );
  });

  it('rejections for quota and rate count as such', async () => {
    for (let i = 0; i < 8; i += 1) assert.equal((await caller.render(BODY)).status, 200);
    const refused = await caller.render(BODY);
    assert.equal(refused.status, 403);
    assert.equal(refused.json.code, 'QUOTA_EXCEEDED');
    let last = refused;
    while (last.status === 403) {
      api.domain.clock.pass(10);
      last = await caller.render(BODY);
    }
    assert.equal(last.status, 429);
    const { summary, log } = await usage();
    assert.equal(summary.successCount, 8);
    assert.equal(summary.errorsByCategory.capacity, 1);
    assert.equal(summary.errorsByCategory.quota, summary.failedCount - 1);
    assert.equal(summary.remaining, 0);
    assert.equal(log.logs.at(-1)?.errorReason, 'RATE_LIMITED');
    assert.equal(log.total, summary.totalRequests);
  });

  it('a caller that hammers on beyond its rate is counted in full, and does not fill the log', async () => {
    const { recorder, clock } = api.domain;
    const { accountId, apiKeyId } = caller;
    const recordRejection = () =>
      recorder.record({
        caller: { accountId, apiKeyId, apiKeyPrefix: 'sk_live_abcd', plan: { retentionHours: 24 } },
        endpoint: '/v1/pdf',
        ipAddress: '127.0.0.1',
        ...{ method: 'POST', statusCode: 429, durationMs: 1 },
        errorCode: 'RATE_LIMITED',
        jobId: undefined,
      });
    clock.pass(60_000 - (clock.now().getTime() % 60_000));
    for (let i = 0; i < 200; i += 1) recordRejection();
    await caller.render({});
    const { summary, log } = await usage();
    assert.equal(summary.errorsByCategory.capacity, 200);
    assert.equal(log.total, 61, 'what is within the rate is logged all the same');
    clock.pass(60_000);
    recordRejection();
    assert.equal((await usage()).log.total, 62);
  });

  it('test keys use no quota, and are logged as all others are', async () => {
    const tester = await api.newCaller({ mode: 'test' });
    caller = tester;
    for (let i = 0; i < 10; i += 1) assert.equal((await tester.render(BODY)).status, 200);
    const { summary } = await usage();
    assert.equal(summary.successCount, 10);
    assert.equal(summary.remaining, 8);
  });

  it('reading jobs is not a request for a render', async () => {
    await caller.get('/v1/pdf/jobs');
    const { summary, log } = await usage();
    assert.deepEqual([summary.totalRequests, log.total], [0, 0]);
  });

  it('a log that cannot be written fails no request, and is written later', async () => {
    const entries = api.domain.connection.collection('request_log');
    const { insertMany } = entries;
    entries.insertMany = async () => {
      throw new Error('the disk is full');
    };
    assert.equal((await caller.render(BODY)).status, 200);
    await api.domain.requestLog.flush();
    entries.insertMany = insertMany;
    assert.equal((await usage()).log.total, 1);
  });
});
