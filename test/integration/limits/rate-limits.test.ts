import assert from 'node:assert/strict';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';

const ASYNC = { html: '<p>x</p>', executionMode: 'async' };

describe('Rate limits', () => {
  const apis: TestApi[] = [];
  /** Two processes on one database. */
  let first: TestApi;
  let second: TestApi;
  before(async () => {
    const { uri } = await startMongo();
    for (let i = 0; i < 2; i += 1) apis.push(await openApi({ uri, plan: { requestsPerMinute: 6 } }));
    [first, second] = apis as [TestApi, TestApi];
  });
  after(async () => {
    for (const api of apis) await api.close();
  });

  /** An account at both processes, early in one of its windows. */
  async function callers(): Promise<[TestCaller, TestCaller]> {
    const caller = await first.newCaller();
    const { headers } = await caller.get('/v1/pdf/jobs?limit=1');
    const seconds = Number(/t=(\d+)$/.exec(headers.get('ratelimit') ?? '')?.[1]);
    if (seconds < 20) pass(seconds * 1000);
    return [caller, caller.at(second.url)];
  }
  function pass(ms: number): void {
    for (const api of apis) api.domain.clock.pass(ms);
  }

  it('are in the headers of every response to a key, also of errors, and of no other response', async () => {
    const [caller] = await callers();
    const responses = [
      await caller.render(ASYNC),
      await caller.render({}),
      await caller.get('/v1/pdf/jobs'),
      await caller.get('/v1/pdf/jobs/00000000-0000-4000-8000-000000000000'),
    ];
    assert.deepEqual(
      responses.map(({ status }) => status),
      [202, 400, 200, 404],
    );
    for (const { headers } of responses) {
      assert.equal(headers.get('ratelimit-policy'), '"requests";q=6;w=60, "reads";q=60;w=60');
    }
    const states = responses.map(({ headers }) => headers.get('ratelimit') ?? '');
    const [one, two, three, four] = states as [string, string, string, string];
    assert.match(one, /^"requests";r=5;t=\d+$/);
    assert.match(two, /^"requests";r=4;t=\d+$/);
    assert.match(three, /^"reads";r=5[89];t=\d+$/);
    assert.match(four, /^"reads";r=5[78];t=\d+$/);
    for (const state of states) {
      const seconds = Number(/t=(\d+)$/.exec(state)?.[1]);
      assert.ok(seconds >= 1 && seconds <= 60, state);
    }
    const stranger = await fetch(`${first.url}/v1/pdf/jobs`);
    assert.equal(stranger.status, 401);
    assert.equal(stranger.headers.get('ratelimit-policy'), null);
  });

  it('hold over all processes, also for concurrent requests', async () => {
    const both = await callers();
    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => both[i % 2]!.render(ASYNC)));
    const rejected = responses.filter(({ status }) => status === 429);
    assert.equal(rejected.length, 14);
    for (const { json, headers } of rejected) {
      assert.equal(json.code, 'RATE_LIMITED');
      assert.match(headers.get('ratelimit') ?? '', /^"requests";r=0;t=\d+$/);
      assert.ok(Number(headers.get('retry-after')) >= 1);
    }
  });

  it('have in Retry-After the time until the next request is accepted', async () => {
    const [caller, elsewhere] = await callers();
    let rejected = await caller.render(ASYNC);
    while (rejected.status !== 429) rejected = await caller.render(ASYNC);
    const seconds = Number(rejected.headers.get('retry-after'));
    assert.ok(seconds <= 60);
    if (seconds > 10) {
      pass((seconds - 10) * 1000);
      assert.equal((await elsewhere.render(ASYNC)).status, 429);
      pass(10_000);
    } else pass(seconds * 1000);
    assert.equal((await elsewhere.render(ASYNC)).status, 202);
  });

  it('are separate for each account', async () => {
    const [other] = await callers();
    // Requested last, because the time of another request could end a window.
    const [caller] = await callers();
    for (let i = 0; i < 8; i += 1) await caller.render(ASYNC);
    assert.equal((await caller.render(ASYNC)).status, 429);
    assert.equal((await other.render(ASYNC)).status, 202);
  });

  it('are higher for reads than for requests for work', async () => {
    const [caller] = await callers();
    for (let i = 0; i < 8; i += 1) await caller.render(ASYNC);
    const checks = await Promise.all(Array.from({ length: 70 }, () => caller.get('/v1/pdf/jobs?limit=1')));
    const seen = checks.filter(({ status }) => status === 200).length;
    // One of the 60 requests was used to find the window, if it is the same one.
    assert.ok(seen === 59 || seen === 60, `${seen} reads`);
    assert.equal(checks.filter(({ status }) => status === 429).length, 70 - seen);
  });

  it('cost the database nothing once a process knows that they are exhausted', async () => {
    const { connection } = first.domain;
    const { limiter } = first.tenants;
    for (let i = 0; i < 50; i += 1) await limiter.take('hammering', 'requests', 3);
    const windows = await connection.collection('rate_windows').find({}).toArray();
    const counts = windows
      .filter(({ _id }) => String(_id).startsWith('hammering:'))
      .map(({ count }) => count);
    assert.ok(Math.max(...counts) <= 3, String(counts));
  });

  it('delete windows that have ended', async () => {
    const { clock, connection } = first.domain;
    const { limiter } = first.tenants;
    await limiter.take('a', 'requests', 10);
    assert.equal(await limiter.deleteExpired(new Date(0)), 0);
    pass(61_000);
    assert.ok((await limiter.deleteExpired(clock.now())) > 0);
    assert.equal(await connection.collection('rate_windows').countDocuments(), 0);
  });
});
