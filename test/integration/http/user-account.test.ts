import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from './support/api.ts';

describe('The dashboard of an account', () => {
  const api = useApi();
  let caller: TestCaller;
  let owner: AccountClient;
  let stranger: AccountClient;

  beforeEach(async () => {
    caller = await api.newCaller();
    owner = await asAccount(caller);
    stranger = await asAccount(await api.newCaller());
  });

  async function asAccount({ accountId }: TestCaller): Promise<AccountClient> {
    return new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
  }

  async function assertRefused(status: number, code: string, ...call: Parameters<AccountClient['call']>) {
    const response = await owner.call(...call);
    assert.deepEqual([response.status, response.json.code], [status, code]);
    return response.json;
  }

  it('changes the name and the allowed addresses of a key, in force at once', async () => {
    const path = `/user/api-keys/${caller.apiKeyId}`;
    const changed = await owner.expect(200, 'PATCH', path, { name: 'B', allowedIps: ['203.0.113.0/24'] });
    assert.deepEqual([changed.name, changed.allowedIps], ['B', ['203.0.113.0/24']]);
    assert.equal((await caller.get('/v1/pdf/jobs')).status, 403);
    const opened = await owner.expect(200, 'PATCH', path, { allowedIps: [] });
    assert.deepEqual([opened.name, opened.allowedIps], ['B', []]);
    assert.equal((await caller.get('/v1/pdf/jobs')).status, 200);
    await assertRefused(400, 'VALIDATION', 'PATCH', path, {});
    await assertRefused(400, 'VALIDATION', 'PATCH', path, { allowedIps: ['here'] });
    await assertRefused(400, 'VALIDATION', 'PATCH', path, { allowedIps: ['10.0.0.0/8\n'] });
    await assertRefused(400, 'VALIDATION', 'PATCH', path, { name: 'B\n' });
    for (const limit of ['010', '-0', '1e1', '0x10', ' 10', '１０'])
      await assertRefused(400, 'VALIDATION', 'GET', `/user/api-keys?limit=${encodeURIComponent(limit)}`);
    assert.equal((await stranger.call('PATCH', path, { name: 'mine' })).status, 404);
    await owner.expect(200, 'DELETE', path);
    await assertRefused(404, 'NOT_FOUND', 'PATCH', path, { name: 'C' });
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log?action=key.changed');
    assert.deepEqual(
      entries.map(({ details }: { details: object }) => details),
      [
        { name: 'B', allowedIps: '' },
        { name: 'B', allowedIps: '203.0.113.0/24' },
      ],
    );
  });

  it('lists templates without their content, searched by name', async () => {
    for (const name of ['Invoice', 'invoice (old)', 'Letter'])
      await owner.expect(201, 'POST', '/user/templates', { name, content: '<p>x</p>' });
    const list = async (query: string) => {
      const { total, templates } = await owner.expect(200, 'GET', `/user/templates${query}`);
      return [total, templates.map(({ name }: { name: string }) => name)];
    };
    assert.deepEqual(await list('?view=summary'), [3, ['Letter', 'invoice (old)', 'Invoice']]);
    assert.deepEqual(await list('?view=summary&search=INVOICE'), [2, ['invoice (old)', 'Invoice']]);
    assert.deepEqual(await list('?view=summary&search=invoice&offset=1&limit=1'), [2, ['Invoice']]);
    assert.deepEqual(await list('?view=summary&search=.*'), [0, []]);
    const [template] = (await owner.expect(200, 'GET', '/user/templates?view=summary')).templates;
    assert.deepEqual([template.size, 'content' in template, 'sampleData' in template], [10, false, false]);
    assert.equal((await owner.expect(200, 'GET', '/user/templates')).templates[0].content, '<p>x</p>');
    await assertRefused(400, 'VALIDATION', 'GET', '/user/templates?search=x');
    assert.equal((await stranger.expect(200, 'GET', '/user/templates?view=summary')).total, 0);
  });

  it('previews a template as a PDF, by a test render', async () => {
    const draft = { content: '<p>{{ a }}</p>', sampleData: '{"a":"b"}' };
    assert.deepEqual(await owner.expect(200, 'POST', '/user/templates/preview', draft), { html: '<p>b</p>' });
    let seen: unknown;
    api.worker.render = async (job, { source, options }) => {
      seen = [job.test, source, options];
      return { pages: 1 };
    };
    const options = { format: 'A5' };
    const asPdf = { ...draft, output: 'pdf', options };
    const { jobId } = await owner.expect(202, 'POST', '/user/templates/preview', asPdf);
    await eventually(
      'it is rendered',
      async () => (await owner.expect(200, 'GET', `/user/renders/${jobId}`)).status === 'completed',
    );
    const expected = { ...options, report: true, watermark: { text: 'TEST' } };
    assert.deepEqual(seen, [true, { mode: 'html', html: '<p>b</p>' }, expected]);
    await assertRefused(400, 'TEMPLATE_ERROR', 'POST', '/user/templates/preview', {
      ...asPdf,
      content: '{% if %}',
    });
  });

  it('filters the request log by outcome and route, with the ids of the renders', async () => {
    api.worker.render = async () => ({ pages: 1 });
    const ids: string[] = [];
    for (let i = 0; i < 60; i += 1) {
      if (i % 20 === 0) await caller.render({});
      else ids.unshift((await caller.render({ html: 'x', executionMode: 'async' })).json.jobId);
    }
    const { jobId: batchId } = (
      await caller.post('/v1/pdf/batch', {
        items: [
          { id: 'a', html: 'x' },
          { id: 'b', html: 'x' },
        ],
      })
    ).json;
    await api.domain.flush();
    const logs = (query: string) => owner.expect(200, 'GET', `/user/request-logs${query}`);
    const failed = await logs('?status=error');
    assert.deepEqual(
      [failed.total, failed.logs.length, failed.summary],
      [3, 3, { successCount: 58, failedCount: 3 }],
    );
    for (const entry of failed.logs) {
      assert.deepEqual([entry.status, entry.jobId, entry.method], ['error', null, 'POST']);
      assert.ok(entry.statusCode >= 400 && entry.durationMs >= 0, JSON.stringify(entry));
    }
    const batches = await logs('?endpoint=/v1/pdf/batch');
    assert.deepEqual([batches.total, batches.logs[0].jobId], [1, batchId]);
    const good: string[] = [];
    for (let offset = 0; offset < 57; offset += 20) {
      const page = await logs(`?endpoint=/v1/pdf&status=success&offset=${offset}`);
      assert.equal(page.total, 57);
      good.push(...page.logs.map(({ jobId }: { jobId: string }) => jobId));
    }
    assert.deepEqual([...good].sort(), [...ids].sort());
    const [oldest] = (await logs('?status=success&sort=created_asc&limit=1')).logs;
    const [newest] = (await logs('?status=success&limit=1')).logs;
    assert.ok(oldest.createdAt <= newest.createdAt && newest.jobId === batchId);
    assert.equal((await logs('?endpoint=/v1/pdf/batch&status=error')).total, 0);
    for (const endpoint of ['$where', 'constructor', '__proto__'])
      await assertRefused(400, 'VALIDATION', 'GET', `/user/request-logs?endpoint=${endpoint}`);
    assert.equal((await stranger.expect(200, 'GET', '/user/request-logs?status=success')).total, 0);
  });

  it('shows the usage over time, by key, with pages, bytes and durations of renders', async () => {
    api.worker.render = async () => ({ pages: 3 });
    const jobId = await caller.completed();
    await caller.render({});
    await owner.expect(202, 'POST', '/user/renders', { html: 'x' });
    const { pdfSize } = (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
    const series = async (query: string) => {
      await api.domain.flush();
      return await owner.expect(200, 'GET', `/user/usage/series${query}`);
    };
    await eventually('all three are counted', async () => (await series('')).points.at(-1).total === 3);
    const { interval, points, durationBoundsMs } = await series('?period=1d&interval=hour');
    assert.deepEqual([interval, points.length], ['hour', 25]);
    const byKey = await series(`?apiKeyId=${caller.apiKeyId}`);
    assert.deepEqual([byKey.interval, byKey.points.length], ['day', 8]);
    const { at, durations, phasesMs, ...counts } = byKey.points.at(-1);
    assert.equal(at, `${api.domain.clock.now().toISOString().slice(0, 10)}T00:00:00.000Z`);
    assert.deepEqual(counts, {
      total: 2,
      success: 1,
      failed: 1,
      refused: 1,
      errorsByCategory: { validation: 1 },
      errorsByCode: { VALIDATION: 1 },
      refusedByCode: { VALIDATION: 1 },
      pages: 3,
      bytes: pdfSize,
    });
    assert.equal(durations.length, durationBoundsMs.length + 1);
    assert.equal(
      durations.reduce((sum: number, count: number) => sum + count, 0),
      1,
    );
    assert.deepEqual(phasesMs, { page: 1, load: 2, wait: 0, print: 3, finish: 4 });
    const [{ remedy, docsUrl, ...most }, ...others] = byKey.errors;
    assert.deepEqual([most, others], [{ code: 'VALIDATION', count: 1, refused: 1 }, []]);
    assert.match(remedy, /\w/);
    assert.match(docsUrl, /\/docs\/errors#VALIDATION$/);
    const byHour = points.reduce((sum: number, { total }: { total: number }) => sum + total, 0);
    assert.equal(byHour, 3);
    await assertRefused(400, 'VALIDATION', 'GET', '/user/usage/series?period=30d&interval=hour');
    const theirs = await stranger.expect(200, 'GET', '/user/usage/series');
    assert.ok(theirs.points.every(({ total }: { total: number }) => total === 0));
  });

  it('shows its plan among the plans that can be chosen, without plans of other customers', async () => {
    const { current, plans } = await owner.expect(200, 'GET', '/user/plans');
    assert.equal(current, 'professional');
    const rows = plans.map(({ name, current, sold }: Record<string, unknown>) => [name, current, sold]);
    assert.deepEqual(rows, [
      ['free', false, false],
      ['starter', false, false],
      ['professional', true, false],
      ['business', false, false],
    ]);
    assert.equal(plans[0].limits.concurrentRenders, 1);
    assert.equal(plans[1].priceCentsPerMonth, 1900);
    await api.accounts.setPlan(caller.accountId, `agreed-${randomUUID().slice(0, 8)}`);
    const unknown = await owner.expect(200, 'GET', '/user/plans');
    assert.equal(unknown.plans.filter((row: { current: boolean }) => row.current).length, 1);
  });
});
