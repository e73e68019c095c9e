import assert from 'node:assert/strict';
import { Histogram } from 'prom-client';
import { observations, quantile, readHistogram, since } from '../../support/histogram.ts';
import { callApi, openApi, type TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const NAME = 'platen_admission_duration_seconds';
const STEPS = ['authenticate', 'limit', 'reserve', 'confirm', 'total'];
const ASYNC = { html: '<p>x</p>', executionMode: 'async' };

describe('The duration of admissions', () => {
  const api = useApi({ plan: { concurrentRenders: 1, maxWaitingJobs: 1, monthlyRenders: 6 } });
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await api.newCaller();
  });

  const metrics = async () => Buffer.from((await callApi(api.url, 'GET', '/metrics')).bytes).toString();

  /** How often each step was observed during a call. */
  async function counted(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = await metrics();
    await work();
    const after = await metrics();
    const counts = STEPS.map((step) => {
      const [from, to] = [before, after].map((text) => readHistogram(text, NAME, { step }));
      return [step, observations(since(from!, to!))] as const;
    });
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  it('is observed by step and in total, only for requests for work', async () => {
    const once = { authenticate: 1, limit: 1, reserve: 1, total: 1 };
    assert.deepEqual(await counted(() => caller.completed()), once);
    assert.deepEqual(await counted(() => caller.get('/v1/pdf/jobs')), {});
  });

  it('ends when a request is rejected', async () => {
    const stranger = () => callApi(api.url, 'POST', '/v1/pdf', ASYNC);
    assert.deepEqual(await counted(stranger), { authenticate: 1 });
    assert.deepEqual(await counted(() => caller.render({})), { authenticate: 1, limit: 1 });
    for (let i = 0; i < 6; i += 1) await caller.completed();
    const overQuota = await counted(() => caller.render(ASYNC));
    assert.deepEqual(overQuota, { authenticate: 1, limit: 1, reserve: 1 });
  });

  it('has one more step when no slot is free', async () => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    await caller.render(ASYNC);
    const all = { authenticate: 1, limit: 1, reserve: 1 };
    assert.deepEqual(await counted(() => caller.render(ASYNC)), { ...all, confirm: 1, total: 1 });
    assert.deepEqual(await counted(() => caller.render(ASYNC)), all);
    gate.open();
  });

  it('is in total the sum of its steps', async () => {
    const fresh = await openApi();
    try {
      await (await fresh.newCaller()).completed();
      const text = Buffer.from((await callApi(fresh.url, 'GET', '/metrics')).bytes).toString();
      const sums = [...text.matchAll(new RegExp(`^${NAME}_sum{.*step="(\\w+)".*} (\\S+)$`, 'gm'))];
      const seconds: Record<string, number> = Object.fromEntries(
        sums.map(([, step, sum]) => [step, Number(sum)]),
      );
      const { authenticate = 0, limit = 0, reserve = 0, total = 0 } = seconds;
      const sum = authenticate + limit + reserve;
      assert.ok(reserve > 0 && Math.abs(total - sum) < 1e-6, JSON.stringify(seconds));
    } finally {
      await fresh.close();
    }
  });

  it('has buckets from which its median can be read', async () => {
    const histogram = new Histogram({ name: 'h', help: 'h', buckets: [1, 2, 4], registers: [] });
    for (const value of [0.5, 1.5, 1.6, 3]) histogram.observe(value);
    const text = (await histogram.get()).values
      .map(({ metricName, labels, value }) => `${metricName}{le="${labels.le}"} ${value}`)
      .join('\n');
    const read = readHistogram(text, 'h');
    assert.equal(observations(read), 4);
    assert.equal(quantile(read, 0.5), 1.5);
    assert.equal(quantile(read, 1), 4);
    assert.ok(Number.isNaN(quantile(since(read, read), 0.5)));
  });
});
