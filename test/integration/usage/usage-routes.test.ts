import assert from 'node:assert/strict';
import { type TestCaller, useApi } from '../http/support/api.ts';

describe('GET /user/usage and /user/request-logs', () => {
  const api = useApi({ plan: { monthlyRenders: 500 } });
  let caller: TestCaller;
  let bearer: Record<string, string>;
  before(async () => {
    caller = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    bearer = { authorization: `Bearer ${token}` };
    await caller.render({ html: '<p>x</p>' });
    // Those of the same millisecond have no order.
    api.domain.clock.pass(10);
    await caller.render({});
    await api.domain.flush();
    await api.domain.requestLog.flush();
  });
  const get = (path: string) => caller.call('GET', path, undefined, bearer);

  it('respond with the fields of the contract', async () => {
    const usage = (await get('/user/usage?period=1d&includeBreakdown=true')).json;
    assert.equal(usage.plan, 'professional');
    assert.deepEqual([usage.totalRequests, usage.successCount, usage.failedCount], [2, 1, 1]);
    assert.equal(usage.remaining, 499);
    assert.deepEqual(usage.keyBreakdown, [{ apiKeyId: caller.apiKeyId, totalRequests: 2, failedCount: 1 }]);
    const log = (await get('/user/request-logs?period=1d&limit=1&offset=1&sort=created_asc')).json;
    assert.deepEqual(
      { ...log, logs: log.logs.length },
      {
        total: 2,
        limit: 1,
        offset: 1,
        endpointOptions: ['/v1/pdf'],
        summary: { successCount: 1, failedCount: 1 },
        logs: 1,
        canRevealIp: true,
        detailsKept: true,
        detailsKeptHours: 7 * 24,
      },
    );
    const [{ status, errorReason, apiKeyId, ipAddress }] = log.logs;
    assert.deepEqual([status, errorReason, apiKeyId], ['error', 'VALIDATION', caller.apiKeyId]);
    assert.equal(ipAddress, '127.0.0.1');
  });

  it('have a period and a page when none is named, and no breakdown', async () => {
    assert.equal((await get('/user/usage')).json.keyBreakdown, undefined);
    const log = (await get('/user/request-logs')).json;
    assert.deepEqual([log.limit, log.offset, log.logs.length], [20, 0, 2]);
  });

  it('show one key’s requests', async () => {
    const of = (id: string) => get(`/user/request-logs?apiKeyId=${id}`);
    assert.equal((await of(caller.apiKeyId)).json.total, 2);
    assert.equal((await of('00000000-0000-4000-8000-000000000000')).json.total, 0);
  });

  it('have an end, however far a page lies behind it', async () => {
    const log = (await get('/user/request-logs?offset=5000000')).json;
    assert.deepEqual([log.total, log.offset, log.logs], [2, 5_000_000, []]);
    assert.equal((await get('/user/request-logs?offset=1000000001')).status, 400);
  });

  it('reject all unknown parameters at once', async () => {
    const response = await get('/user/request-logs?period=2d&limit=0&sort=random&apiKeyId=x&colour=red');
    assert.equal(response.status, 400);
    assert.equal(response.json.message.length, 5);
    for (const query of [
      'period=',
      'period=1D',
      'includeBreakdown=1',
      'includeBreakdown=true&includeBreakdown=true',
    ]) {
      assert.equal((await get(`/user/usage?${query}`)).status, 400, query);
    }
    const [error] = (await get('/user/usage?includeBreakdown=yes')).json.message;
    assert.equal(error, 'includeBreakdown: must be true or false');
  });

  it('want a bearer token', async () => {
    for (const path of ['/user/usage', '/user/request-logs']) {
      assert.equal((await caller.get(path)).status, 401);
    }
  });
});
