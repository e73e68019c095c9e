import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DEFAULT_PLANS } from '../../../src/plans/plan.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';

const ROWS = 100_000;
const BATCH = 5000;
const RUNS = 9;
const LIMIT_MS = 100;
const DAY_MS = 86_400_000;
const READER = { accountId: 'account', planName: 'business', plan: DEFAULT_PLANS.business } as const;

/** All of one account: the worst case, since nothing is another's. */
describe(`With ${ROWS} requests of one account, on the embedded database`, function () {
  this.timeout(120_000);
  let domain: Domain;
  let claimWhenEmpty: number;
  before(async () => {
    domain = await openDomain();
    claimWhenEmpty = await median(claim);
    for (let start = 0; start < ROWS; start += BATCH) await record(start);
  });
  after(() => domain.close());

  for (const period of ['1d', '90d'] as const) {
    for (const [what, rest] of Object.entries({
      'the first page': { offset: 0 },
      'a page in the middle': { offset: period === '1d' ? 500 : ROWS / 2 },
      'a page of one key': { offset: 0, apiKeyId: 'key-3' },
    })) {
      it(`${what} of the log of ${period} comes in ${LIMIT_MS} ms`, async () => {
        const page = () =>
          domain.usage.requestLog(READER, { period, limit: 100, newestFirst: true, ...rest });
        const { logs, total } = await page();
        assert.equal(logs.length, 100);
        if (period === '90d')
          assert.equal(total, rest.offset === 0 && what.includes('key') ? ROWS / 10 : ROWS);
        await assertQuick(page);
      });
    }

    it(`the usage summary of ${period} comes in ${LIMIT_MS} ms`, async () => {
      const summary = () => domain.usage.summary(READER, period, true);
      const { totalRequests, keyBreakdown } = await summary();
      assert.equal(keyBreakdown?.length, 10);
      if (period === '90d') assert.equal(totalRequests, ROWS);
      await assertQuick(summary);
    });
  }

  it('claiming a job takes no longer than without them', async () => {
    const now = await median(claim);
    assert.ok(now <= 2 * claimWhenEmpty + 2, `${now} ms, and ${claimWhenEmpty} ms when there was nothing`);
  });

  /** Requests of the last ninety days, in equal distances. */
  async function record(start: number): Promise<void> {
    const { counters, requestLog, clock } = domain;
    const now = clock.now().getTime();
    const times = Array.from({ length: BATCH }, (_, i) => new Date(now - ((start + i) / ROWS) * 90 * DAY_MS));
    times.forEach((createdAt, i) => {
      const key = { accountId: READER.accountId, apiKeyId: `key-${i % 10}` };
      const errorCode = i % 7 === 0 ? ('RENDER_TIMEOUT' as const) : undefined;
      counters.record({ ...key, at: createdAt, errorCode });
      requestLog.record({
        ...key,
        apiKeyPrefix: 'sk_live_abcd',
        endpoint: '/v1/pdf',
        ipAddress: '203.0.113.77',
        status: errorCode === undefined ? 'success' : 'error',
        errorReason: errorCode ?? null,
        createdAt,
      });
    });
    await counters.flush();
    await requestLog.flush();
  }

  async function claim(): Promise<number> {
    const { job, input } = newJob(randomUUID());
    await domain.dispatch.submit(job, input);
    return timed(async () => assert.ok(await domain.lifecycle.claim(job, 'worker', 60_000)));
  }

  async function assertQuick(work: () => Promise<unknown>): Promise<void> {
    const ms = await median(() => timed(work));
    assert.ok(ms <= LIMIT_MS, `${ms} ms`);
  }
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Once more than counts, to warm up. */
async function median(measure: () => Promise<number>): Promise<number> {
  await measure();
  const took: number[] = [];
  for (let run = 0; run < RUNS; run += 1) took.push(await measure());
  return took.sort((a, b) => a - b)[RUNS >> 1]!;
}
