import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe('API keys', () => {
  let api: TestApi;
  let other: TestApi;
  let client: AccountClient;

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri, trustedProxies: 1 });
    other = await openApi({ uri, trustedProxies: 1 });
  });
  after(async () => {
    await other.close();
    await api.close();
  });
  beforeEach(async () => {
    client = await signUp(api.url);
    await moveTo('business');
  });

  async function moveTo(plan: 'free' | 'starter' | 'business'): Promise<void> {
    const { id } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(id, plan);
    await other.accounts.setPlan(id, plan);
  }

  async function make(body: Record<string, unknown> = {}) {
    return client.expect(201, 'POST', '/user/api-keys', { name: 'key', ...body });
  }

  /** The response to a key at a process, from an address. */
  async function use(apiKey: string, url = api.url, address = '203.0.113.9'): Promise<number> {
    const headers = { 'x-api-key': apiKey, 'x-forwarded-for': address };
    return (await callApi(url, 'GET', '/v1/pdf/jobs', undefined, headers)).status;
  }

  async function listed(query = ''): Promise<{ total: number; names: string[] }> {
    const { total, keys } = await client.expect(200, 'GET', `/user/api-keys${query}`);
    return { total, names: keys.map(({ name }: { name: string }) => name) };
  }

  it('are created with a secret that is shown once', async () => {
    const made = await make({ name: '  orders ', mode: 'test', allowedIps: [] });
    assert.match(made.apiKey, /^sk_test_[0-9A-Za-z]{49}$/);
    assert.equal(made.mode, 'test');
    assert.ok(made.apiKey.startsWith(made.prefix));
    assert.equal(await use(made.apiKey), 200);
    const { keys } = await client.expect(200, 'GET', '/user/api-keys');
    assert.deepEqual(keys, [
      {
        id: made.id,
        name: 'orders',
        prefix: made.prefix,
        mode: 'test',
        status: 'active',
        createdAt: keys[0].createdAt,
        createdBy: (await client.expect(200, 'GET', '/auth/me')).email,
        lastUsedAt: keys[0].lastUsedAt,
        lastUsedIp: keys[0].lastUsedIp,
        lastUsedGeo: keys[0].lastUsedGeo,
        revokedAt: null,
        allowedIps: [],
      },
    ]);
    for (const name of ['api_keys', 'audit_log']) {
      const rows = JSON.stringify(await api.domain.connection.collection(name).find().toArray());
      assert.ok(!rows.includes(made.apiKey), name);
    }
  });

  it('are live by default', async () => {
    assert.match((await make()).apiKey, /^sk_live_/);
  });

  it('are listed by status and mode, sorted, and in pages', async () => {
    const names = ['beta', 'Alpha', 'gamma', 'delta'];
    const made = [];
    for (const name of names) {
      made.push(await make({ name, mode: name === 'gamma' ? 'test' : 'live' }));
      await sleep(2);
    }
    await client.expect(200, 'DELETE', `/user/api-keys/${made[3].id}`);
    await use(made[0].apiKey);
    await api.lastUse.flush();
    await sleep(2);
    await use(made[2].apiKey);
    await api.lastUse.flush();

    assert.deepEqual(await listed(), { total: 4, names: ['delta', 'gamma', 'Alpha', 'beta'] });
    assert.deepEqual((await listed('?sort=created_asc')).names, names);
    assert.deepEqual((await listed('?sort=name_asc')).names, ['Alpha', 'beta', 'delta', 'gamma']);
    assert.deepEqual((await listed('?sort=name_desc')).names, ['gamma', 'delta', 'beta', 'Alpha']);
    assert.deepEqual((await listed('?sort=last_used_desc')).names.slice(0, 2), ['gamma', 'beta']);
    assert.deepEqual((await listed('?sort=last_used_asc')).names.slice(2), ['beta', 'gamma']);
    assert.deepEqual(await listed('?status=revoked'), { total: 1, names: ['delta'] });
    assert.deepEqual(await listed('?status=active&mode=live&sort=name_asc'), {
      total: 2,
      names: ['Alpha', 'beta'],
    });
    assert.deepEqual(await listed('?mode=test'), { total: 1, names: ['gamma'] });
    assert.deepEqual(await listed('?sort=name_asc&limit=2&offset=1'), { total: 4, names: ['beta', 'delta'] });
    const faulty = await client.get('/user/api-keys?status=gone&mode=x&sort=size&limit=0&offset=-1&page=1');
    assert.equal(faulty.status, 400);
    assert.equal(faulty.json.message.length, 6);
  });

  it('are accepted only from their allowed addresses', async () => {
    const { apiKey, id } = await make({
      allowedIps: ['192.0.2.1', '198.51.100.77/24', '2001:DB8:0::/48', '::ffff:10.1.2.3', '198.51.100.0/24'],
    });
    const { keys } = await client.expect(200, 'GET', '/user/api-keys');
    const { allowedIps } = keys.find((key: { id: string }) => key.id === id);
    assert.deepEqual(allowedIps, ['192.0.2.1', '198.51.100.0/24', '2001:db8::/48', '10.1.2.3']);
    for (const address of [
      '192.0.2.1',
      '198.51.100.200',
      '2001:db8:0:ffff::1',
      '10.1.2.3',
      '::ffff:192.0.2.1',
    ]) {
      assert.equal(await use(apiKey, api.url, address), 200, address);
    }
    for (const address of ['192.0.2.2', '198.51.101.1', '2001:db8:1::1', '10.1.2.4']) {
      assert.equal(await use(apiKey, api.url, address), 403, address);
    }
  });

  it('are rejected with all errors of the request', async () => {
    const response = await client.call('POST', '/user/api-keys', {
      name: ' ',
      mode: 'prod',
      allowedIps: [
        '10.0.0.1/33',
        '1.2.3',
        '0x7f.1',
        'fe80::1%eth0',
        '10.0.0.0/8/8',
        'example.com',
        '10.0.0.1/',
      ],
      apiKey: 'mine',
    });
    assert.equal(response.status, 400);
    assert.equal(response.json.message.length, 10, response.json.message.join('\n'));
  });

  it('are rejected in every process within a second of being revoked', async () => {
    const { apiKey, id } = await make();
    assert.equal(await use(apiKey, other.url), 200);
    const revoked = await client.expect(200, 'DELETE', `/user/api-keys/${id}`);
    assert.equal(revoked.status, 'revoked');
    assert.ok(revoked.revokedAt);
    assert.equal(await use(apiKey), 401);
    await sleep(1000);
    assert.equal(await use(apiKey, other.url), 401);
    const again = await client.expect(200, 'DELETE', `/user/api-keys/${id}`);
    // Its last use may have been written meanwhile.
    assert.deepEqual([again.status, again.revokedAt], ['revoked', revoked.revokedAt]);
  });

  it('are rotated at once, also at the capacity of the plan', async () => {
    await moveTo('free');
    const [kept, old] = [
      await make(),
      await make({ name: 'old', mode: 'test', allowedIps: ['203.0.113.9'] }),
    ];
    assert.equal(await use(old.apiKey, other.url), 200);
    const replaced = await client.expect(200, 'POST', `/user/api-keys/${old.id}/rotate`);
    assert.notEqual(replaced.id, old.id);
    assert.notEqual(replaced.apiKey, old.apiKey);
    assert.equal(replaced.mode, 'test');
    assert.equal(await use(replaced.apiKey), 200);
    assert.equal(await use(replaced.apiKey, api.url, '203.0.113.10'), 403);
    assert.equal(await use(old.apiKey), 401);
    await sleep(1000);
    assert.equal(await use(old.apiKey, other.url), 401);
    assert.equal(await use(kept.apiKey), 200);
    assert.deepEqual((await listed('?status=active')).total, 2);
    assert.equal((await client.call('POST', `/user/api-keys/${old.id}/rotate`)).status, 404);
  });

  it('are kept for ten generations when they are revoked, and the first for ever', async () => {
    let { id } = await make({ name: 'first' });
    const ids = [id];
    for (let i = 0; i < 24; i += 1) {
      ({ id } = await client.expect(200, 'POST', `/user/api-keys/${id}/rotate`));
      ids.push(id);
    }
    const { total, keys } = await client.expect(200, 'GET', '/user/api-keys?limit=100&sort=created_asc');
    const known = [ids[0], ...ids.slice(-10)];
    assert.equal(total, known.length);
    assert.deepEqual(keys.map((key: { id: string }) => key.id).sort(), [...known].sort());
    const active = await client.expect(200, 'GET', '/user/api-keys?status=active');
    assert.deepEqual([active.total, active.keys[0].id], [1, id]);
    for (let i = 0; i < 24; i += 1) {
      await client.expect(200, 'DELETE', `/user/api-keys/${id}`);
      ({ id } = await make());
    }
    assert.equal((await listed()).total, known.length);
  });

  it('are kept for ever when their secret was given', async () => {
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await make();
    const { keys } = await client.expect(200, 'GET', '/user/api-keys');
    await client.expect(200, 'DELETE', `/user/api-keys/${keys[0].id}`);
    const secret = `sk_live_${'x'.repeat(49)}`;
    const given = await api.keys.create(accountId, { name: 'given', mode: 'live', allowedIps: [], secret });
    let id = given.key._id;
    for (let i = 0; i < 24; i += 1)
      ({ id } = await client.expect(200, 'POST', `/user/api-keys/${id}/rotate`));
    assert.equal((await api.keys.findBySecret(secret))?.status, 'revoked');
  });

  it('are rotated by one of many concurrent rotations of the same key', async () => {
    const old = await make();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        client.at(n % 2 ? api.url : other.url).call('POST', `/user/api-keys/${old.id}/rotate`),
      ),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, ...Array(9).fill(404)]);
    const winner = responses.find(({ status }) => status === 200)!;
    assert.equal(await use(winner.json.apiKey), 200);
    assert.equal((await listed('?status=active')).total, 1);
  });

  it('are exactly as many as the plan allows when two processes create them concurrently', async () => {
    await moveTo('starter');
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        client.at(n % 2 ? api.url : other.url).call('POST', '/user/api-keys', { name: `key ${n}` }),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 201).length, 5);
    const rejected = responses.filter(({ status }) => status !== 201);
    assert.ok(rejected.every(({ status, json }) => status === 403 && json.code === 'KEY_CAPACITY'));
    assert.equal((await listed('?status=active')).total, 5);
  });

  it('stay within the plan while two processes create, rotate and revoke them concurrently', async () => {
    await moveTo('starter');
    for (let n = 0; n < 5; n += 1) await make();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const at = client.at(n % 2 ? api.url : other.url);
        const statuses: number[] = [];
        for (let round = 0; round < 6; round += 1) {
          const { keys } = (await at.get('/user/api-keys?status=active&limit=100')).json;
          // During a rotation both keys are active for a moment.
          assert.ok(keys.length <= 5 + 8, `${keys.length} keys`);
          const { id } = keys[(n * 7 + round) % keys.length];
          const responses = [
            n % 4 === 0
              ? await at.call('DELETE', `/user/api-keys/${id}`)
              : await at.call('POST', `/user/api-keys/${id}/rotate`),
            await at.call('POST', '/user/api-keys', { name: 'more' }),
          ];
          statuses.push(...responses.map(({ status }) => status));
        }
        return statuses;
      }),
    );
    assert.ok(outcomes.flat().every((status) => [200, 201, 403, 404].includes(status)));
    assert.equal((await listed('?status=active')).total, 5);
  });

  it('belong to one account', async () => {
    const { id, apiKey } = await make();
    const stranger = await signUp(api.url);
    assert.equal((await stranger.expect(200, 'GET', '/user/api-keys')).total, 0);
    for (const [method, path] of [
      ['DELETE', `/user/api-keys/${id}`],
      ['POST', `/user/api-keys/${id}/rotate`],
      ['DELETE', `/user/api-keys/${NOWHERE}`],
      ['POST', `/user/api-keys/${NOWHERE}/rotate`],
    ] as const) {
      assert.equal((await stranger.call(method, path)).status, 404, `${method} ${path}`);
    }
    assert.equal((await stranger.call('DELETE', '/user/api-keys/7')).status, 400);
    assert.equal(await use(apiKey), 200);
  });

  describe('remember their last use', () => {
    it('with its time, address and country', async () => {
      const { apiKey } = await make();
      const began = Date.now();
      await use(apiKey, api.url, '193.99.144.80');
      await api.lastUse.flush();
      const [key] = (await client.expect(200, 'GET', '/user/api-keys')).keys;
      assert.ok(Date.parse(key.lastUsedAt) >= began - 5);
      assert.equal(key.lastUsedIp, '193.99.144.80');
      assert.equal(key.lastUsedGeo, 'Germany');
    });

    it('within a few seconds', async () => {
      const { apiKey } = await make();
      await use(apiKey);
      const last = async () => (await client.expect(200, 'GET', '/user/api-keys')).keys[0].lastUsedAt;
      await eventually('its last use is shown', async () => (await last()) !== null);
    });

    it('by one write for many requests, which keeps the latest of all processes', async () => {
      const { apiKey, id } = await make();
      for (let n = 1; n <= 20; n += 1) await use(apiKey, api.url, `192.0.2.${n}`);
      await use(apiKey, other.url, '2a02:2e0:3fe:1001:302::');
      // The process that saw the earlier use writes last.
      await other.lastUse.flush();
      await api.lastUse.flush();
      const [key] = (await client.expect(200, 'GET', '/user/api-keys')).keys;
      assert.equal(key.id, id);
      assert.equal(key.lastUsedIp, '2a02:2e0:3fe:1001:302::');
      assert.equal(key.lastUsedGeo, 'Germany');
    });

    it('except for rejected requests', async () => {
      const { apiKey } = await make({ allowedIps: ['192.0.2.1'] });
      await use(apiKey, api.url, '192.0.2.2');
      await api.lastUse.flush();
      assert.equal((await client.expect(200, 'GET', '/user/api-keys')).keys[0].lastUsedAt, null);
    });
  });
});
