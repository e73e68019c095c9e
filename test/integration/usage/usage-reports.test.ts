import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/infra/errors/registry.ts';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import type { RequestLogOrder } from '../../../src/tenants/usage/usage-reports.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { type Domain, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('Usage summary and request log', () => {
  let uri: string;
  let domain: Domain;
  let account: string;
  before(async () => {
    ({ uri } = await startMongo());
    domain = await openDomain({ uri });
  });
  after(() => domain.close());
  beforeEach(() => {
    account = randomUUID();
  });

  /** Requests of the past, as they would have been recorded then. */
  async function past(agoMs: number, apiKeyId: string, errorCode?: ErrorCode): Promise<void> {
    const { clock, recorder, counters, requestLog } = domain;
    clock.pass(-agoMs);
    const plan = { retentionHours: 24 };
    const caller = { accountId: account, apiKeyId, apiKeyPrefix: 'sk_live_abcd', plan };
    const ipAddress = '203.0.113.77';
    recorder.record({
      caller,
      endpoint: '/v1/pdf',
      ipAddress,
      ...{ method: 'POST', statusCode: errorCode === undefined ? 200 : 400, durationMs: 7 },
      errorCode,
      jobId: errorCode === undefined ? randomUUID() : undefined,
    });
    // The job of a success ends.
    if (errorCode === undefined) {
      counters.record({ accountId: account, apiKeyId, at: clock.now(), errorCode: undefined });
    }
    clock.pass(agoMs);
    await counters.flush();
    await requestLog.flush();
  }
  const reader = (planName: 'free' | 'professional' = 'professional') => ({
    accountId: account,
    planName,
    plan: DEFAULT_PLANS[planName],
  });
  const logs = (order: Partial<RequestLogOrder> = {}, planName: 'free' | 'professional' = 'professional') =>
    domain.usage.reports.requestLog(reader(planName), {
      period: '7d',
      limit: 20,
      offset: 0,
      newestFirst: true,
      ...order,
    });

  it('has every field of the contract, also for an account that has done nothing', async () => {
    const summary = await domain.usage.reports.summary(reader('free'), '7d', false);
    const { resetDate, ...rest } = summary;
    assert.match(resetDate, /^\d{4}-\d\d-01$/);
    assert.ok(Date.parse(resetDate) > Date.now());
    assert.deepEqual(rest, {
      plan: 'free',
      totalRequests: 0,
      successCount: 0,
      failedCount: 0,
      errorsByCategory: { validation: 0, render: 0, timeout: 0 },
      remaining: 100,
      requestsPerMinute: 10,
      concurrentRenders: 1,
      maxInputSizeBytes: 1_048_576,
      maxOutputSizeBytes: 10_485_760,
      maxTimeoutMs: 30_000,
    });
  });

  it('has what is left of the quota, never less than nothing', async () => {
    const period = quotaPeriod(domain.clock.now());
    for (let i = 0; i < 3; i += 1)
      await domain.ledger.takeSlot(account, `job-${i}`, 10, { period, limit: 1000 });
    assert.equal((await domain.usage.reports.summary(reader('free'), '7d', false)).remaining, 97);
    const plan = { ...DEFAULT_PLANS.free, monthlyRenders: 2 };
    assert.equal((await domain.usage.reports.summary({ ...reader('free'), plan }, '7d', false)).remaining, 0);
  });

  it('breaks usage down by key on request', async () => {
    await past(0, 'a');
    await past(0, 'b', 'VALIDATION');
    await past(0, 'b');
    assert.equal((await domain.usage.reports.summary(reader(), '7d', false)).keyBreakdown, undefined);
    assert.deepEqual((await domain.usage.reports.summary(reader(), '7d', true)).keyBreakdown, [
      { apiKeyId: 'b', totalRequests: 2, failedCount: 1 },
      { apiKeyId: 'a', totalRequests: 1, failedCount: 0 },
    ]);
  });

  it('goes back as far as the period says, to the hour, and its totals are those of the rows', async () => {
    const ages = [
      0,
      23 * HOUR_MS,
      26 * HOUR_MS,
      6 * DAY_MS,
      8 * DAY_MS,
      40 * DAY_MS,
      89 * DAY_MS,
      95 * DAY_MS,
    ];
    for (const age of ages) await past(age, 'a', age % DAY_MS === 0 ? undefined : 'VALIDATION');
    const expected = { '1d': 2, '7d': 4, '30d': 5, '90d': 7 } as const;
    for (const [period, count] of Object.entries(expected) as [keyof typeof expected, number][]) {
      const log = await logs({ period });
      assert.equal(log.total, count, period);
      assert.equal(log.logs.length, count, period);
      assert.equal(log.summary.successCount + log.summary.failedCount, count);
      assert.equal(
        (await domain.usage.reports.summary(reader(), period, false)).totalRequests,
        count,
        period,
      );
    }
  });

  it('pages through the log in either order, without a gap or a repetition', async () => {
    const at = domain.clock.now();
    for (let i = 0; i < 45; i += 1) {
      // Many in the same millisecond.
      domain.requestLog.record({
        accountId: account,
        apiKeyId: 'a',
        apiKeyPrefix: 'sk_live_abcd',
        endpoint: '/v1/pdf',
        ipAddress: '203.0.113.77',
        status: 'success',
        errorReason: null,
        createdAt: new Date(at.getTime() - (i % 3)),
      });
    }
    await domain.requestLog.flush();
    for (const newestFirst of [true, false]) {
      const pages = await Promise.all([0, 20, 40].map((offset) => logs({ offset, newestFirst })));
      const rows = pages.flatMap((page) => page.logs);
      assert.equal(new Set(rows.map(({ _id }) => _id)).size, 45);
      const times = rows.map(({ createdAt }) => createdAt.getTime());
      const sorted = times.toSorted((a, b) => (newestFirst ? b - a : a - b));
      assert.deepEqual(times, sorted);
    }
  });

  it('keeps every entry of two processes that write at once, over many pages', async () => {
    const other = await openDomain({ uri });
    const write = (target: Domain, i: number) =>
      target.recorder.record({
        caller: {
          accountId: account,
          apiKeyId: `key-${i % 3}`,
          apiKeyPrefix: 'sk_live_abcd',
          plan: { retentionHours: 24 },
        },
        endpoint: '/v1/pdf',
        ipAddress: '203.0.113.77',
        ...{ method: 'POST', statusCode: 200, durationMs: 7 },
        errorCode: undefined,
        jobId: randomUUID(),
      });
    for (let round = 0; round < 10; round += 1) {
      for (let i = 0; i < 37; i += 1) write(i % 2 ? domain : other, i);
      await Promise.all([domain.requestLog.flush(), other.requestLog.flush()]);
    }
    await other.close();
    const seen = new Set<string>();
    for (let offset = 0; offset < 400; offset += 20) {
      for (const { _id } of (await logs({ offset })).logs) seen.add(_id);
    }
    assert.equal(seen.size, 370);
    assert.equal((await logs()).total, 370);
    assert.equal((await logs({ apiKeyId: 'key-0' })).total, 130);
  });

  it('shows what came through one key', async () => {
    await past(0, 'a');
    await past(0, 'b', 'QUOTA_EXCEEDED');
    const log = await logs({ apiKeyId: 'b' });
    assert.deepEqual([log.total, log.logs.length, log.summary], [1, 1, { successCount: 0, failedCount: 1 }]);
    assert.equal(log.logs[0]!.errorReason, 'QUOTA_EXCEEDED');
    assert.equal((await logs({ apiKeyId: 'c' })).total, 0);
  });

  it('finds the requests of a kind, page by page, and reads the entries of few others', async () => {
    const { clock, requestLog } = domain;
    const now = clock.now().getTime();
    const write = (accountId: string, i: number) =>
      requestLog.record({
        accountId,
        apiKeyId: `${accountId}-${i % 2}`,
        apiKeyPrefix: 'sk_live_abcd',
        endpoint: i % 100 === 7 ? '/v1/batches' : '/v1/pdf',
        ipAddress: '203.0.113.77',
        status: i % 50 === 7 ? 'error' : 'success',
        errorReason: i % 50 === 7 ? 'VALIDATION' : null,
        createdAt: new Date(now - i * (HOUR_MS / 100)),
      });
    for (let i = 0; i < 2000; i += 1) {
      write(account, i);
      write(`${account}0`, i);
    }
    await requestLog.flush();
    const times = async (order: Partial<RequestLogOrder>) => {
      const found: number[] = [];
      for (;;) {
        const page = await logs({ ...order, limit: 7, offset: found.length });
        found.push(...page.logs.map(({ createdAt }) => Math.round((now - createdAt.getTime()) / 36_000)));
        if (page.logs.length === 0) return found;
      }
    };
    const every = (step: number) => Array.from({ length: 2000 / step }, (_, i) => 7 + i * step);
    assert.deepEqual(await times({ status: 'error' }), every(50));
    assert.deepEqual(await times({ status: 'error', newestFirst: false }), every(50).reverse());
    assert.deepEqual(await times({ endpoint: '/v1/batches' }), every(100));
    assert.deepEqual(await times({ status: 'success', endpoint: '/v1/batches' }), []);
    assert.deepEqual(await times({ status: 'error', endpoint: '/v1/pdf', apiKeyId: `${account}-1` }), [
      ...every(100).map((i) => i + 50),
    ]);
    const last = { offset: 1980, limit: 20 };
    assert.equal((await logs(last)).logs.length, 20);
    const read = (order: Partial<RequestLogOrder>) => documentsRead(domain.connection, () => logs(order));
    // The counts of its days and keys, the page, and of the hour in which it begins what is before it.
    assert.ok((await read(last)) < 150);
    assert.ok((await read({ apiKeyId: `${account}-1` })) < 30);
    assert.ok((await read({ status: 'error', limit: 2 })) < 120);
  });

  it('masks addresses unless the plan reveals them', async () => {
    await past(0, 'a');
    const free = await logs({}, 'free');
    assert.deepEqual([free.canRevealIp, free.logs[0]!.ipAddress], [false, '203.0.113.0']);
    const professional = await logs({}, 'professional');
    assert.deepEqual([professional.canRevealIp, professional.logs[0]!.ipAddress], [true, '203.0.113.77']);
  });

  it('is no other account’s', async () => {
    await past(0, 'a');
    account = randomUUID();
    assert.equal((await logs()).total, 0);
  });

  it('keeps the records of the longest period, and deletes older ones', async () => {
    await past(89 * DAY_MS, 'a');
    await past(95 * DAY_MS, 'a');
    assert.ok((await domain.requestLog.deleteOld(domain.clock.now())) >= 1);
    assert.ok((await domain.counters.deleteOld(domain.clock.now())) >= 1);
    assert.deepEqual(
      [(await logs({ period: '90d' })).total, (await logs({ period: '90d' })).logs.length],
      [1, 1],
    );
  });
});
