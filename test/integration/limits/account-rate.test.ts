import assert from 'node:assert/strict';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import type { Reply } from '../../support/send.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

/** Requests a minute that the free plan allows with an access token. */
const ALLOWED = 600;
const AT_ONCE = 50;

describe('The rate of requests with an access token', () => {
  const apis: TestApi[] = [];
  /** Two processes on one database. */
  let first: TestApi;
  let second: TestApi;
  before(async () => {
    const { uri } = await startMongo();
    for (let i = 0; i < 2; i += 1) apis.push(await openApi({ uri, plan: { requestsPerMinute: 2000 } }));
    [first, second] = apis as [TestApi, TestApi];
  });
  after(async () => {
    for (const api of apis) await api.close();
  });

  function pass(ms: number): void {
    for (const api of apis) api.domain.clock.pass(ms);
  }

  /** An account on the free plan, early in a window without requests. */
  async function newcomer(): Promise<AccountClient> {
    const client = await signUp(first.url);
    const { headers } = await client.get('/auth/me');
    pass(resetSeconds(headers) * 1000);
    return client;
  }

  /** Every second request goes to the other process. */
  async function askMany(client: AccountClient, times: number): Promise<Reply[]> {
    const responses: Reply[] = [];
    while (responses.length < times) {
      const size = Math.min(AT_ONCE, times - responses.length);
      const batch = Array.from({ length: size }, (_, n) =>
        client.at(apis[n % 2]!.url).get(n % 3 ? '/auth/me' : '/user/api-keys'),
      );
      responses.push(...(await Promise.all(batch)));
    }
    return responses;
  }

  it('is in the headers of every response, also of errors', async () => {
    const client = await newcomer();
    const responses = [
      await client.get('/user/usage'),
      await client.call('POST', '/user/templates', { name: '' }),
      await client.get('/user/templates/00000000-0000-4000-8000-000000000000'),
      await client.call('POST', '/auth/logout'),
    ];
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 400, 404, 200],
    );
    responses.forEach(({ headers }, i) => {
      assert.equal(headers.get('ratelimit-policy'), `"account";q=${ALLOWED};w=60`);
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"account";r=${ALLOWED - 1 - i};t=\\d+$`));
      assert.ok(resetSeconds(headers) >= 1 && resetSeconds(headers) <= 60);
    });
    const ended = await client.get('/auth/me');
    assert.equal(ended.status, 401);
    assert.equal(ended.headers.get('ratelimit-policy'), null);
  });

  it('is limited over all processes, until the time of Retry-After', async () => {
    const client = await newcomer();
    const responses = await askMany(client, ALLOWED + 60);
    const rejected = responses.filter(({ status }) => status === 429);
    assert.equal(responses.filter(({ status }) => status === 200).length, ALLOWED);
    assert.equal(rejected.length, 60);
    for (const { json, headers } of rejected) {
      assert.equal(json.code, 'RATE_LIMITED');
      assert.match(headers.get('ratelimit') ?? '', /^"account";r=0;t=\d+$/);
      assert.equal(headers.get('retry-after'), String(resetSeconds(headers)));
    }
    const { headers } = await client.get('/auth/me');
    const seconds = Number(headers.get('retry-after'));
    assert.ok(seconds > 15, 'a window is long, and has begun a moment ago');
    pass((seconds - 15) * 1000);
    assert.equal((await client.get('/auth/me')).status, 429);
    pass(15_000);
    assert.equal((await client.at(second.url).get('/auth/me')).status, 200);
  });

  it('is counted for each account, separately from its keys', async () => {
    const client = await newcomer();
    const { apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    await askMany(client, ALLOWED);
    assert.equal((await client.get('/auth/me')).status, 429);
    const jobs = await client.call('GET', '/v1/pdf/jobs', undefined, { 'x-api-key': apiKey });
    assert.equal(jobs.status, 200);
    const reads = DEFAULT_PLANS.free.requestsPerMinute * 10;
    assert.match(jobs.headers.get('ratelimit') ?? '', new RegExp(`^"reads";r=${reads - 1};`));
    assert.equal((await (await signUp(first.url)).get('/auth/me')).status, 200);
  });

  it('is limited to no less than the plan allows with a key', async () => {
    const client = await signUp(first.url);
    const { id } = await client.expect(200, 'GET', '/auth/me');
    await first.accounts.setPlan(id, 'professional');
    const { headers } = await client.get('/auth/me');
    assert.equal(headers.get('ratelimit-policy'), '"account";q=2000;w=60');
  });

  it('does not appear in the request log', async () => {
    const client = await newcomer();
    await askMany(client, 5);
    await first.domain.requestLog.flush();
    assert.equal((await client.expect(200, 'GET', '/user/request-logs')).total, 0);
  });
});

/** Seconds until the window ends, by the response. */
function resetSeconds(headers: Headers): number {
  return Number(/t=(\d+)$/.exec(headers.get('ratelimit') ?? '')?.[1]);
}
