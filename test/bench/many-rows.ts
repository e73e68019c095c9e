/**
 * What a page of the jobs and of the request log, the usage summary and a claim cost on the embedded database, empty and with many rows
 * of one account. Prints medians in milliseconds. `make bench` runs it last.
 */
import { randomUUID } from 'node:crypto';
import { RateLimiter } from '../../src/tenants/limits/rate-limiter.ts';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { type Domain, newJob, openDomain } from '../support/domain.ts';
import { onDatabase } from './on-database.ts';

const ROWS = 100_000;
const RUNS = 15;
const DAY_MS = 86_400_000;
const BATCH = 2000;

await onDatabase(async (database) => {
  const domain = await openDomain({ uri: database.uri });
  const empty = await measure(domain);
  await fill(domain);
  const full = await measure(domain);
  const width = Math.max(...Object.keys(empty).map((name) => name.length));
  console.log(`${''.padEnd(width)}     empty  ${ROWS} rows   (median ms of ${RUNS})`);
  for (const [name, ms] of Object.entries(empty)) {
    console.log(
      `${name.padEnd(width)}  ${ms.toFixed(1).padStart(8)}  ${full[name]!.toFixed(1).padStart(11)}`,
    );
  }
  await domain.close();
});

async function measure(domain: Domain): Promise<Record<string, number>> {
  const limiter = new RateLimiter(domain.connection, domain.clock);
  const reader = { accountId: 'account', planName: 'business', plan: DEFAULT_PLANS.business } as const;
  const page = (period: '1d' | '90d', offset: number, apiKeyId?: string) => () =>
    domain.usage.reports.requestLog(reader, { period, apiKeyId, limit: 20, offset, newestFirst: true });
  const jobs = (offset: number, states?: Job['state'][]) => () =>
    domain.store.list({
      ...{ accountId: 'account', test: false, limit: 20, offset, newestFirst: true },
      ...(states && { states }),
    });
  return {
    'job page': await median(jobs(0)),
    'job page, one state': await median(jobs(0, ['completed'])),
    'job page, offset 10000': await median(jobs(10_000)),
    'log page, 1d': await median(page('1d', 0)),
    'log page, 90d': await median(page('90d', 0)),
    'log page, 90d, offset 10000': await median(page('90d', 10_000)),
    'log page, 90d, one key': await median(page('90d', 0, 'key-3')),
    'usage summary, 7d': await median(() => domain.usage.reports.summary(reader, '7d', true)),
    'usage summary, 90d': await median(() => domain.usage.reports.summary(reader, '90d', true)),
    'rate limit': await median(() => limiter.take(randomUUID(), 'requests', 100)),
    'slot and quota': await median(() =>
      domain.ledger.takeSlot('account', randomUUID(), 1e6, { period: quotaPeriod(new Date()), limit: 1e6 }),
    ),
    'idempotency key, begun and answered': await median(async () => {
      const begun = await domain.idempotency.begin('account', '/v1/pdf', randomUUID(), 'hash');
      if (begun.kind === 'run') await begun.lock.responded(200);
    }),
    'submit and claim a job': await median(async () => {
      const { job, input } = newJob(randomUUID());
      await domain.admit({ job, input });
      if ((await domain.store.transitions.claim(job, 'w', 60_000)) === undefined)
        throw new Error('not claimed');
    }),
    'move a job to the history': await median(() =>
      domain.store.history.take([
        newJob('account', { state: 'completed', expiresAt: new Date(Date.now() + DAY_MS) }).job,
      ]),
    ),
  };
}

/** Ninety days of ten keys, all of one account: the worst case, since nothing is another's. */
async function fill(domain: Domain): Promise<void> {
  const now = Date.now();
  for (let start = 0; start < ROWS; start += BATCH) {
    const times = Array.from({ length: BATCH }, (_, i) => new Date(now - ((start + i) / ROWS) * 90 * DAY_MS));
    times.forEach((at, i) => {
      const apiKeyId = `key-${i % 10}`;
      const failed = i % 7 === 0;
      const errorReason = failed ? ('RENDER_TIMEOUT' as const) : null;
      domain.counters.record({ accountId: 'account', apiKeyId, at, errorCode: errorReason ?? undefined });
      domain.requestLog.record({
        accountId: 'account',
        apiKeyId,
        apiKeyPrefix: 'sk_live_abcd',
        endpoint: '/v1/pdf',
        ipAddress: '203.0.113.77',
        status: failed ? 'error' : 'success',
        errorReason,
        createdAt: at,
      });
    });
    const expiresAt = new Date(now + DAY_MS);
    const jobs = times.map(
      (createdAt) => newJob('account', { state: 'completed', createdAt, expiresAt }).job,
    );
    await domain.connection.collection<Job>('job_history').insertMany(jobs, { ordered: false });
    await domain.counters.flush();
    await domain.requestLog.flush();
  }
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  await work();
  for (let run = 0; run < RUNS; run += 1) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b)[RUNS >> 1]!;
}
