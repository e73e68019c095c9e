import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { unzip } from '../../support/unzip.ts';
import { HTML, useAccountRenders } from './support/account-renders.ts';
import { openApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const HOUR_MS = 3_600_000;

describe('The renders of an account', () => {
  const { api, account, ended, failed, assertRejected } = useAccountRenders();

  it('of live keys, of test keys and without a key are listed by mode, state and time', async () => {
    const live = await account.caller.completed({ filename: 'live' });
    const test = await createTest();
    api.domain.clock.pass(HOUR_MS);
    const { jobId: own } = await account.owner.expect(202, 'POST', '/user/renders', {
      html: HTML,
      mode: 'live',
    });
    await ended(own);
    const list = async (query = '') => {
      const { total, renders } = await account.owner.expect(200, 'GET', `/user/renders${query}`);
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
    const [first, , last] = (await account.owner.expect(200, 'GET', '/user/renders')).renders;
    assert.deepEqual([first.apiKeyId, first.apiKeyPrefix, first.mode], [null, null, 'live']);
    assert.equal(last.apiKeyId, account.caller.apiKeyId);
    assert.ok(account.caller.secret.startsWith(last.apiKeyPrefix));
    assert.deepEqual([last.format, last.templateId, last.fileName], ['A4', null, 'live.pdf']);
    assert.equal((await account.stranger.expect(200, 'GET', '/user/renders')).total, 0);
  });

  it('are found by template, key, name and error while they wait, run and have ended', async () => {
    const { id: templateId } = await account.owner.expect(201, 'POST', '/user/templates', {
      name: 't',
      content: HTML,
    });
    const made = await account.caller.completed({ html: undefined, templateId, filename: 'Rechnung 7' });
    const { jobId: own } = await account.owner.expect(202, 'POST', '/user/renders', {
      html: HTML,
      mode: 'live',
    });
    await ended(own);
    const bad = await failed({ html: HTML, filename: 'Rechnung 8' });
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const [running, waiting] = [
      (await account.caller.render({ html: HTML, executionMode: 'async', filename: 'Rechnung 9' })).json
        .jobId,
      (await account.caller.render({ html: HTML, executionMode: 'async' })).json.jobId,
    ];
    const find = async (query: string, by = account.owner) => {
      const { total, renders, searchedTo } = await by.expect(200, 'GET', `/user/renders?${query}`);
      assert.deepEqual([total, searchedTo], [renders.length, null]);
      return renders.map(({ jobId }: { jobId: string }) => jobId);
    };
    assert.deepEqual(await find('search=rechnung'), [running, bad, made]);
    assert.deepEqual(await find('search=rechnung&status=failed'), [bad]);
    assert.deepEqual(await find(`templateId=${templateId}`), [made]);
    assert.deepEqual(await find('apiKeyId=none'), [own]);
    assert.deepEqual(await find(`apiKeyId=${account.caller.apiKeyId}`), [waiting, running, bad, made]);
    assert.deepEqual(await find('error=SELECTOR_TIMEOUT'), [bad]);
    assert.deepEqual(await find(`search=${waiting.slice(-8)}`), [waiting]);
    assert.deepEqual((await find('sort=duration_desc')).slice(-2).sort(), [running, waiting].sort());
    assert.deepEqual(await find('search=rechnung', account.stranger), []);
    await assertRejected(400, 'VALIDATION', 'GET', '/user/renders?minMs=5&maxMs=4');
    await assertRejected(400, 'VALIDATION', 'GET', '/user/renders?error=NO_SUCH_CODE');
    held.open();
    await ended(waiting);
  });

  it('are downloaded together as a zip, each under a name of its own, without those that have no PDF', async () => {
    const a = await account.caller.completed({ filename: 'same' });
    const b = await account.caller.completed({ filename: 'same' });
    const bad = await failed();
    const zip = (ids: string[], by = account.owner) => by.call('GET', `/user/renders/zip?ids=${ids.join()}`);
    const { status, bytes } = await zip([a, bad, b, a]);
    assert.equal(status, 200);
    assert.deepEqual(
      (await unzip(bytes)).map(({ name }) => name),
      ['same.pdf', 'same (2).pdf'],
    );
    assert.equal((await zip([bad])).status, 404);
    assert.equal((await zip([a], account.stranger)).status, 404);
    assert.equal((await zip(['x'])).status, 400);
    assert.equal((await zip(Array.from({ length: 101 }, () => randomUUID()))).status, 400);
  });

  async function createTest(): Promise<string> {
    const { jobId } = await account.owner.expect(202, 'POST', '/user/renders', { html: HTML });
    await ended(jobId);
    return jobId;
  }

  it('have the times, the outcome and the phases of each attempt', async () => {
    const held = latch();
    api.worker.render = async () => ({ retries: new PlatenError('URL_UNREACHABLE') });
    const { jobId } = (await account.caller.render({ html: HTML, executionMode: 'async' })).json;
    await eventually('the first attempt has failed', async () => {
      return (await account.owner.expect(200, 'GET', `/user/renders/${jobId}`)).willRetry;
    });
    const waiting = await account.owner.expect(200, 'GET', `/user/renders/${jobId}`);
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
      const { attempts } = await account.owner.expect(200, 'GET', `/user/renders/${jobId}`);
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
    const { jobId } = (await account.caller.render({ html: HTML, executionMode: 'async' })).json;
    await eventually('it runs', async () => {
      return (await account.owner.expect(200, 'GET', `/user/renders/${jobId}`)).status === 'processing';
    });
    const cancelled = await account.owner.expect(200, 'DELETE', `/user/renders/${jobId}`);
    assert.equal(cancelled.status, 'cancelled');
    const { attempts } = await account.owner.expect(200, 'GET', `/user/renders/${jobId}`);
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
      ids.push((await account.caller.render({ html: HTML, executionMode: 'async' })).json.jobId);
    const urgent = (await account.owner.expect(202, 'POST', '/user/renders', { html: HTML })).jobId;
    const ahead = async (jobId: string) =>
      (await account.owner.expect(200, 'GET', `/user/renders/${jobId}`)).queue.ahead;
    assert.deepEqual(await Promise.all([...ids, urgent].map(ahead)), [null, 1, 2, 3, 0]);
    const queue = await account.owner.expect(200, 'GET', '/user/queue');
    const { createdAt } = await account.owner.expect(200, 'GET', `/user/renders/${ids[1]}`);
    assert.deepEqual(queue, { inFlight: 1, waiting: 4, concurrentRenders: 1, oldestWaitingAt: createdAt });
    const theirs = await account.stranger.expect(200, 'GET', '/user/queue');
    assert.deepEqual(theirs, { inFlight: 0, waiting: 0, concurrentRenders: 1, oldestWaitingAt: null });
    held.open();
    await ended(ids[3]!);
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
    const response = await account.owner.call('POST', '/user/renders', { html: HTML, output: 'url' });
    const render = await ended(response.json.jobId);
    assert.deepEqual([render.mode, render.outputMode, render.status], ['test', 'url', 'completed']);
    assert.match(response.headers.get('ratelimit')!, /^"requests";/);
    await api.domain.flush();
    const [entry] = (await account.owner.expect(200, 'GET', '/user/request-logs')).logs;
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
      const theirs = await account.stranger.call(method, `/user/renders/${jobId}${rest}`);
      const nobodys = await account.stranger.call(method, `/user/renders/${randomUUID()}${rest}`);
      assert.deepEqual([theirs.status, nobodys.status], [404, 404], `${method} ${rest}`);
    }
    const { id } = await account.owner.expect(201, 'POST', '/user/templates', { name: 't', content: 'x' });
    assert.equal((await account.stranger.call('POST', '/user/renders', { templateId: id })).status, 404);
  });
});
