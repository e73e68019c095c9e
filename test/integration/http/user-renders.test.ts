import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { openApi, type TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const HOUR_MS = 3_600_000;
const HTML = '<p>x</p>';

describe('The renders of an account', () => {
  const api = useApi({ plan: { concurrentRenders: 1, retentionHours: 2 } });
  /** The same account, by its key and by an access token. */
  let caller: TestCaller;
  let owner: AccountClient;
  let stranger: AccountClient;

  beforeEach(async () => {
    api.worker.render = async () => ({ pages: 1 });
    caller = await api.newCaller();
    owner = await asAccount(caller);
    stranger = await asAccount(await api.newCaller());
  });

  async function asAccount({ accountId }: TestCaller): Promise<AccountClient> {
    return new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
  }

  async function ended(jobId: string, by = owner) {
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
    let render: any;
    await eventually('the job has ended', async () => {
      render = await by.expect(200, 'GET', `/user/renders/${jobId}`);
      return ['completed', 'failed', 'cancelled'].includes(render.status);
    });
    return render;
  }

  async function failed(body: object = { html: HTML }): Promise<string> {
    api.worker.render = async () => ({ fails: new PlatenError('SELECTOR_TIMEOUT') });
    const { jobId } = (await caller.render({ executionMode: 'async', ...body })).json;
    await ended(jobId);
    api.worker.render = async () => ({ pages: 1 });
    return jobId;
  }

  async function assertRejected(status: number, code: string, method: string, path: string, body?: unknown) {
    const response = await owner.call(method, path, body);
    assert.deepEqual([response.status, response.json.code], [status, code], path);
    return response.json;
  }

  it('of live keys, of test keys and without a key are listed by mode, state and time', async () => {
    const live = await caller.completed({ filename: 'live' });
    const test = await createTest();
    api.domain.clock.pass(HOUR_MS);
    const { jobId: own } = await owner.expect(202, 'POST', '/user/renders', { html: HTML, mode: 'live' });
    await ended(own);
    const list = async (query = '') => {
      const { total, renders } = await owner.expect(200, 'GET', `/user/renders${query}`);
      assert.equal(total, renders.length);
      return renders.map(({ jobId }: { jobId: string }) => jobId);
    };
    assert.deepEqual(await list(), [own, test, live]);
    assert.deepEqual(await list('?sort=created_asc'), [live, test, own]);
    assert.deepEqual(await list('?mode=test'), [test]);
    assert.deepEqual(await list('?mode=live'), [own, live]);
    assert.deepEqual(await list('?status=failed'), []);
    const between = new Date(api.domain.clock.now().getTime() - HOUR_MS / 2).toISOString();
    assert.deepEqual(await list(`?from=${between}`), [own]);
    assert.deepEqual(await list(`?to=${between}`), [test, live]);
    await assertRejected(400, 'VALIDATION', 'GET', `/user/renders?from=${between}&to=${between}`);
    const [first, , last] = (await owner.expect(200, 'GET', '/user/renders')).renders;
    assert.deepEqual([first.apiKeyId, first.apiKeyPrefix, first.mode], [null, null, 'live']);
    assert.equal(last.apiKeyId, caller.apiKeyId);
    assert.ok(caller.secret.startsWith(last.apiKeyPrefix));
    assert.deepEqual([last.format, last.templateId, last.fileName], ['A4', null, 'live.pdf']);
    assert.equal((await stranger.expect(200, 'GET', '/user/renders')).total, 0);
  });

  async function createTest(): Promise<string> {
    const { jobId } = await owner.expect(202, 'POST', '/user/renders', { html: HTML });
    await ended(jobId);
    return jobId;
  }

  it('have the times, the outcome and the phases of each attempt', async () => {
    const held = latch();
    api.worker.render = async () => ({ retries: new PlatenError('URL_UNREACHABLE') });
    const { jobId } = (await caller.render({ html: HTML, executionMode: 'async' })).json;
    await eventually('the first attempt has failed', async () => {
      return (await owner.expect(200, 'GET', `/user/renders/${jobId}`)).willRetry;
    });
    const waiting = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
    assert.equal(waiting.attempts.length, 1);
    const [first] = waiting.attempts;
    assert.deepEqual([first.number, first.outcome, first.error.code], [1, 'failed', 'URL_UNREACHABLE']);
    assert.deepEqual(first.phases, { page: 1, load: 21, wait: 300, print: 0, finish: 0 });
    assert.ok(first.startedAt <= first.endedAt);
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    api.domain.clock.pass(2 * HOUR_MS);
    await api.domain.retries.returnDue();
    await eventually('the second attempt runs', async () => {
      const { attempts } = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
      return attempts.length === 2 && attempts[1].outcome === 'running' && attempts[1].endedAt === null;
    });
    held.open();
    const { attempts, queuedMs, inputAvailable } = await ended(jobId);
    assert.deepEqual(
      attempts.map(({ number, outcome, error }: Record<string, unknown>) => [number, outcome, error]),
      [
        [1, 'failed', first.error],
        [2, 'completed', null],
      ],
    );
    assert.deepEqual(attempts[1].phases, { page: 1, load: 2, wait: 0, print: 3, finish: 4 });
    assert.ok(queuedMs < HOUR_MS, 'the time until its first attempt, not until its last one');
    assert.equal(inputAvailable, false);
  });

  it('have their failed attempt, and a cancelled one', async () => {
    const [attempt, ...others] = (await ended(await failed())).attempts;
    assert.deepEqual(others, []);
    assert.deepEqual([attempt.outcome, attempt.error.code], ['failed', 'SELECTOR_TIMEOUT']);
    assert.equal(attempt.phases.load, 21);
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const { jobId } = (await caller.render({ html: HTML, executionMode: 'async' })).json;
    await eventually('it runs', async () => {
      return (await owner.expect(200, 'GET', `/user/renders/${jobId}`)).status === 'processing';
    });
    const cancelled = await owner.expect(200, 'DELETE', `/user/renders/${jobId}`);
    assert.equal(cancelled.status, 'cancelled');
    const { attempts } = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
    assert.deepEqual([attempts[0].outcome, attempts[0].phases], ['cancelled', null]);
    await assertRejected(409, 'JOB_ENDED', 'DELETE', `/user/renders/${jobId}`);
    held.open();
  });

  it('have the number of jobs that are ahead, and that are in flight', async () => {
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1)
      ids.push((await caller.render({ html: HTML, executionMode: 'async' })).json.jobId);
    const urgent = (await owner.expect(202, 'POST', '/user/renders', { html: HTML })).jobId;
    const ahead = async (jobId: string) =>
      (await owner.expect(200, 'GET', `/user/renders/${jobId}`)).queue.ahead;
    assert.deepEqual(await Promise.all([...ids, urgent].map(ahead)), [null, 1, 2, 3, 0]);
    const queue = await owner.expect(200, 'GET', '/user/queue');
    const { createdAt } = await owner.expect(200, 'GET', `/user/renders/${ids[1]}`);
    assert.deepEqual(queue, { inFlight: 1, waiting: 4, concurrentRenders: 1, oldestWaitingAt: createdAt });
    const theirs = await stranger.expect(200, 'GET', '/user/queue');
    assert.deepEqual(theirs, { inFlight: 0, waiting: 0, concurrentRenders: 1, oldestWaitingAt: null });
    held.open();
    await ended(ids[3]!);
  });

  it("are shown in a frame of the dashboard's pages only, or saved", async () => {
    const jobId = await caller.completed({ filename: 'note' });
    const shown = await owner.get(`/user/renders/${jobId}/file`);
    assert.equal((await readPdf(shown.bytes)).pages.length, 1);
    assert.match(shown.headers.get('content-disposition')!, /^inline; filename=note\.pdf$/);
    assert.equal(shown.headers.get('content-security-policy'), "frame-ancestors 'self'");
    assert.equal(shown.headers.get('x-frame-options'), 'SAMEORIGIN');
    const saved = await owner.get(`/user/renders/${jobId}/file?download=true`);
    assert.match(saved.headers.get('content-disposition')!, /^attachment;/);
    await assertRejected(404, 'NOT_FOUND', 'GET', `/user/renders/${await failed()}/file`);
  });

  it('are shared by a link that ends at its time or with the PDF, and each link is in the audit log', async () => {
    const jobId = await caller.completed({ filename: 'note' });
    const { outputExpiresAt } = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
    const share = (body: object) => owner.expect(201, 'POST', `/user/renders/${jobId}/share`, body);
    const whole = await share({});
    assert.equal(whole.expiresAt, outputExpiresAt);
    assert.equal((await share({ hours: 24 * 366 })).expiresAt, outputExpiresAt);
    const sent = await fetch(whole.url);
    assert.match(sent.headers.get('content-disposition')!, /^attachment; filename=note\.pdf$/);
    assert.equal((await readPdf(new Uint8Array(await sent.arrayBuffer()))).pages.length, 1);
    const { entries, total } = await owner.expect(200, 'GET', '/user/audit-log?action=render.shared');
    assert.equal(total, 2);
    assert.deepEqual(
      [entries[1].targetId, entries[1].details],
      [jobId, { name: 'note.pdf', until: outputExpiresAt }],
    );
    // Longer than a download link of the API.
    api.domain.clock.pass(30 * 60_000);
    assert.equal((await fetch(whole.url)).status, 200);
    const changed = whole.url.replace(/.$/, (end: string) => (end === 'A' ? 'B' : 'A'));
    assert.equal((await fetch(changed)).status, 404);
    api.domain.clock.pass(Date.parse(outputExpiresAt) - api.domain.clock.now().getTime() + 1);
    assert.equal((await fetch(whole.url)).status, 404);
    await assertRejected(404, 'NOT_FOUND', 'POST', `/user/renders/${await failed()}/share`, {});
  });

  it('keep the input of a failed job, without its secrets', async () => {
    const cookie = { name: 'session', domain: 'reports.example' };
    const options = {
      assetHeaders: { 'X-Secret': 'hunter2' },
      cookies: [{ ...cookie, value: 'hunter2' }],
      protection: { userPassword: 'hunter2', ownerPassword: 'hunter3', permissions: { copy: false } },
      scale: 0.5,
      timeoutMs: 20_000,
    };
    const jobId = await failed({ html: '<p>it fails</p>', options });
    const response = await owner.get(`/user/renders/${jobId}/input`);
    assert.deepEqual(response.json, {
      html: '<p>it fails</p>',
      options: {
        ...options,
        assetHeaders: { 'X-Secret': '***' },
        cookies: [{ ...cookie, value: '***' }],
        protection: { userPassword: '***', ownerPassword: '***', permissions: { copy: false } },
      },
    });
    assert.equal((await owner.expect(200, 'GET', `/user/renders/${jobId}`)).inputAvailable, true);
    const completed = await caller.completed();
    await assertRejected(410, 'GONE', 'GET', `/user/renders/${completed}/input`);
  });

  it('are retried with their old input, as a new job that uses quota', async () => {
    const { id: templateId } = await owner.expect(201, 'POST', '/user/templates', {
      name: 't',
      content: '<p>{{ a }}</p>',
    });
    const options = { assetHeaders: { 'X-Secret': 'hunter2' } };
    const jobId = await failed({ templateId, data: { a: 1 }, filename: 'again', options });
    await owner.expect(200, 'DELETE', `/user/templates/${templateId}`);
    const { remaining } = await owner.expect(200, 'GET', '/user/usage');
    let seen: unknown;
    api.worker.render = async (_job, input) => {
      seen = [input.source.mode === 'template' && input.source.content, input.options.assetHeaders];
      return { pages: 3 };
    };
    const again = await owner.expect(202, 'POST', `/user/renders/${jobId}/retry`);
    assert.notEqual(again.jobId, jobId);
    assert.equal(again.retryOf, jobId);
    const render = await ended(again.jobId);
    assert.deepEqual(
      [render.status, render.pages, render.retryOf, render.templateId, render.fileName, render.mode],
      ['completed', 3, jobId, templateId, 'again.pdf', 'live'],
    );
    assert.deepEqual(seen, ['<p>{{ a }}</p>', options.assetHeaders]);
    assert.equal((await owner.expect(200, 'GET', '/user/usage')).remaining, remaining - 1);
    assert.equal((await ended(jobId)).status, 'failed', 'the old one stays as it is');
  });

  it('requested or retried with an Idempotency-Key are one, however often the request is sent', async () => {
    const [first, second] = [await failed(), await failed()];
    const paths: [string, object | undefined][] = [
      ['/user/renders', { html: HTML }],
      [`/user/renders/${first}/retry`, undefined],
    ];
    for (const [path, body] of paths) {
      const click = () => owner.call('POST', path, body, { 'idempotency-key': 'a click' });
      const { total } = await owner.expect(200, 'GET', '/user/renders');
      const both = await Promise.all([click(), click()]);
      const done = both.filter(({ status }) => status === 202);
      // The second request arrives while the first is processed, or after it.
      for (const reply of both.filter((one) => !done.includes(one)))
        assert.equal(reply.json.code, 'IDEMPOTENCY_IN_PROGRESS');
      const again = await click();
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
      for (const { json } of done) assert.deepEqual(json, again.json);
      // While the job ends it may be counted both as in flight and as ended.
      await ended(again.json.jobId);
      assert.equal((await owner.expect(200, 'GET', '/user/renders')).total, total + 1, path);
    }
    const other = await owner.call('POST', `/user/renders/${second}/retry`, undefined, {
      'idempotency-key': 'a click',
    });
    assert.deepEqual([other.status, other.json.code], [409, 'IDEMPOTENCY_MISMATCH']);
  });

  it('can be retried with the Idempotency-Key of a rejected retry', async () => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { fails: new PlatenError('SELECTOR_TIMEOUT') };
    };
    const { jobId } = (await caller.render({ html: HTML, executionMode: 'async' })).json;
    const click = () =>
      owner.call('POST', `/user/renders/${jobId}/retry`, undefined, { 'idempotency-key': 'a click' });
    assert.equal((await click()).json.code, 'NOT_RETRYABLE');
    gate.open();
    await ended(jobId);
    assert.equal((await click()).status, 202);
  });

  it('cannot be retried while they are live, once they are completed, or when their input is deleted', async () => {
    const completed = await caller.completed();
    await assertRejected(409, 'NOT_RETRYABLE', 'POST', `/user/renders/${completed}/retry`);
    const jobId = await failed();
    // Its input leaves the record of the job when the job is moved to the history.
    await api.domain.flush();
    await api.domain.store.inputs.delete([jobId]);
    await assertRejected(410, 'GONE', 'POST', `/user/renders/${jobId}/retry`);
    assert.equal((await owner.expect(200, 'GET', `/user/renders/${jobId}`)).inputAvailable, false);
  });

  it('are rejected while the service accepts no work, and beyond the quota', async () => {
    const jobId = await failed();
    api.state.rejection = new PlatenError('UNAVAILABLE', undefined, { retryAfterSeconds: 5 });
    try {
      await assertRejected(503, 'UNAVAILABLE', 'POST', `/user/renders/${jobId}/retry`);
      await assertRejected(503, 'UNAVAILABLE', 'POST', '/user/renders', { html: HTML });
    } finally {
      api.state.rejection = undefined;
    }
    const poor = await openApi({ plan: { monthlyRenders: 0 } });
    try {
      const { accountId } = await poor.newCaller();
      const client = new AccountClient(poor.url, (await poor.tenants.tokens.issue(accountId)).token);
      const live = await client.call('POST', '/user/renders', { html: HTML, mode: 'live' });
      assert.deepEqual([live.status, live.json.code], [403, 'QUOTA_EXCEEDED']);
      // Test renders use no quota.
      await client.expect(202, 'POST', '/user/renders', { html: HTML });
    } finally {
      await poor.close();
    }
  });

  it('without a key are test renders by default, and count against the rate of the plan', async () => {
    const response = await owner.call('POST', '/user/renders', { html: HTML, output: 'url' });
    const render = await ended(response.json.jobId);
    assert.deepEqual([render.mode, render.outputMode, render.status], ['test', 'url', 'completed']);
    assert.match(response.headers.get('ratelimit')!, /^"requests";/);
    await api.domain.flush();
    const [entry] = (await owner.expect(200, 'GET', '/user/request-logs')).logs;
    assert.deepEqual(
      [entry.endpoint, entry.status, entry.apiKeyPrefix],
      ['/user/renders', 'success', 'dashboard'],
    );
    const rejected = await assertRejected(400, 'VALIDATION', 'POST', '/user/renders', { mode: 'other' });
    assert.deepEqual(rejected.message.length, 2);
  });

  it('are not visible to another account', async () => {
    const jobId = await failed();
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/file'],
      ['GET', '/input'],
      ['DELETE', ''],
      ['POST', '/retry'],
    ] as const) {
      const theirs = await stranger.call(method, `/user/renders/${jobId}${rest}`);
      const nobodys = await stranger.call(method, `/user/renders/${randomUUID()}${rest}`);
      assert.deepEqual([theirs.status, nobodys.status], [404, 404], `${method} ${rest}`);
    }
    const { id } = await owner.expect(201, 'POST', '/user/templates', { name: 't', content: 'x' });
    assert.equal((await stranger.call('POST', '/user/renders', { templateId: id })).status, 404);
  });
});
