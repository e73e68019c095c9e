import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { callApi, type TestCaller, useApi } from './support/api.ts';

const PATHS: readonly [method: string, path: string][] = [
  ['POST', '/v1/pdf'],
  ['GET', '/v1/pdf/jobs'],
  ['GET', `/v1/pdf/jobs/${randomUUID()}`],
  ['DELETE', `/v1/pdf/jobs/${randomUUID()}`],
  ['GET', `/v1/pdf/jobs/${randomUUID()}/file`],
  ['GET', `/v1/pdf/jobs/${randomUUID()}/download-url`],
];

describe('Authentication by API key', () => {
  const api = useApi();

  const withKey = (key: string | undefined, method = 'GET', path = '/v1/pdf/jobs') =>
    callApi(api.url, method, path, undefined, key === undefined ? {} : { 'x-api-key': key });

  it('is required by every rendering route', async () => {
    for (const [method, path] of PATHS) {
      const response = await withKey(undefined, method, path);
      assert.equal(response.status, 401, `${method} ${path}`);
      assert.equal(response.json.code, 'UNAUTHENTICATED');
    }
  });

  it('names its header in the challenge', async () => {
    const tokens = { authorization: 'Bearer abc' };
    const responses = [
      await withKey(undefined),
      await withKey(`sk_live_${'x'.repeat(49)}`),
      await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, tokens),
    ];
    for (const { headers } of responses) {
      assert.equal(headers.get('www-authenticate'), 'ApiKey realm="platen", header="X-API-Key"');
    }
  });

  it('comes before any check of the request', async () => {
    assert.equal((await withKey(undefined, 'GET', '/v1/pdf/jobs/not-a-uuid?x=1')).status, 401);
  });

  for (const [what, key] of [
    ['an empty key', ''],
    ['no key at all', 'hello'],
    ['a key nobody has', `sk_live_${'x'.repeat(49)}`],
    ['a key of a million characters', `sk_live_${'x'.repeat(10_000)}`],
    ['a bearer token', 'Bearer abc'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      assert.equal((await withKey(key)).status, 401);
    });
  }

  it('accepts a valid key, but neither its prefix nor another case', async () => {
    const caller = await api.newCaller();
    assert.equal((await withKey(caller.secret)).status, 200);
    assert.equal((await withKey(caller.secret.slice(0, -1))).status, 401);
    assert.equal((await withKey(caller.secret.replace('sk_live_', 'sk_test_'))).status, 401);
  });

  it('accepts a key in Authorization, as a bearer token or as the name of Basic', async () => {
    const { secret } = await api.newCaller();
    const with_ = (authorization: string, more = {}) =>
      callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, { authorization, ...more });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    for (const value of [`Bearer ${secret}`, `bearer  ${secret}`, basic(`${secret}:`)])
      assert.equal((await with_(value)).status, 200, value);
    const wrong = [
      basic(secret),
      basic(`${secret}:x`),
      basic(':'),
      basic(`:${secret}`),
      'Basic',
      `Token ${secret}`,
    ];
    for (const value of [...wrong, `Bearer ${secret}x`, secret]) {
      const { status, json } = await with_(value);
      assert.deepEqual([status, json.code], [401, 'UNAUTHENTICATED'], value);
    }
    assert.equal((await with_('Bearer x', { 'x-api-key': secret })).status, 200, 'X-API-Key counts');
    assert.equal((await with_(`Bearer ${secret}`, { 'x-api-key': 'x' })).status, 401, 'X-API-Key counts');
  });

  it('takes no access token for a key, and no key for an access token', async () => {
    const { accountId, secret } = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(accountId);
    const status = async (path: string, credential: string) =>
      (await callApi(api.url, 'GET', path, undefined, { authorization: `Bearer ${credential}` })).status;
    assert.equal(await status('/user/usage', token), 200);
    assert.equal(await status('/v1/pdf/jobs', token), 401);
    assert.equal(await status('/user/usage', secret), 401);
    assert.equal(await status('/v1/pdf/jobs', secret), 200);
  });

  it('rejects a key in Authorization from an address that it does not allow', async () => {
    const { secret } = await api.newCaller({ allowedIps: ['203.0.113.0/24'] });
    const headers = { authorization: `Bearer ${secret}` };
    assert.equal((await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, headers)).status, 403);
  });

  it('rejects a revoked key within a second', async () => {
    const caller = await api.newCaller();
    assert.equal((await withKey(caller.secret)).status, 200);
    await api.domain.connection
      .collection<{ _id: string; status: string }>('api_keys')
      .updateOne({ _id: caller.apiKeyId }, { $set: { status: 'revoked' } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    assert.equal((await withKey(caller.secret)).status, 401);
  });

  it('shows a job to its own account only', async () => {
    const [owner, other] = [await api.newCaller(), await api.newCaller()];
    const jobId = await owner.completed();
    for (const suffix of ['', '/file', '/download-url']) {
      assert.equal((await owner.get(`/v1/pdf/jobs/${jobId}${suffix}`)).status, 200);
      assert.equal((await other.get(`/v1/pdf/jobs/${jobId}${suffix}`)).status, 404);
    }
    assert.equal((await other.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 404);
    assert.equal((await other.get('/v1/pdf/jobs')).json.total, 0);
  });

  it('renders templates of its own account only', async () => {
    const [owner, other] = [await api.newCaller(), await api.newCaller()];
    const draft = { name: 't', content: 'x', sampleData: '{}' };
    const mine = await api.templates.create(owner.accountId, draft);
    const second = await api.templates.create(owner.accountId, draft);
    const templateId = mine.template._id;
    assert.equal((await owner.render({ templateId })).status, 200);
    for (const [caller, body] of [
      [other, { templateId }],
      [owner, { templateId: randomUUID() }],
      [owner, { templateId, templateVersionId: randomUUID() }],
      [owner, { templateId, templateVersionId: second.version._id }],
    ] as const) {
      const response = await caller.render(body);
      assert.equal(response.status, 404);
      assert.equal(response.json.code, 'NOT_FOUND');
    }
  });

  describe('of a key with allowed addresses', () => {
    it('rejects other addresses with 403', async () => {
      const elsewhere = await api.newCaller({ allowedIps: ['203.0.113.0/24'] });
      const response = await elsewhere.get('/v1/pdf/jobs');
      assert.equal(response.status, 403);
      assert.equal(response.json.code, 'ADDRESS_NOT_ALLOWED');
      const here = await api.newCaller({ allowedIps: ['2001:db8::/32', '127.0.0.0/8'] });
      assert.equal((await here.get('/v1/pdf/jobs')).status, 200);
    });

    it('ignores X-Forwarded-For without a trusted proxy', async () => {
      const elsewhere = await api.newCaller({ allowedIps: ['203.0.113.7'] });
      const response = await elsewhere.call('GET', '/v1/pdf/jobs', undefined, {
        'x-forwarded-for': '203.0.113.7',
      });
      assert.equal(response.status, 403);
    });
  });

  describe('behind one trusted proxy', () => {
    const proxied = useApi({ trustedProxies: 1 });
    let caller: TestCaller;
    before(async () => {
      caller = await proxied.newCaller({ allowedIps: ['203.0.113.7', '2001:db8::/32'] });
    });

    for (const [forwarded, status] of [
      ['203.0.113.7', 200],
      ['::ffff:203.0.113.7', 200],
      ['2001:db8::5', 200],
      // The caller's own entries come before the proxy's entry.
      ['203.0.113.7, 198.51.100.9', 403],
      ['198.51.100.9, 203.0.113.7', 200],
      ['198.51.100.9', 403],
      ['nonsense', 403],
    ] as const) {
      it(`responds with ${status} when the proxy forwards ${forwarded}`, async () => {
        const response = await caller.call('GET', '/v1/pdf/jobs', undefined, {
          'x-forwarded-for': forwarded,
        });
        assert.equal(response.status, status);
      });
    }
  });
});
