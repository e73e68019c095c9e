import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { AccessTokenStore } from '../../../src/tenants/accounts/access-token-store.ts';
import { AccountService } from '../../../src/tenants/accounts/account-service.ts';
import { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import { AuditLog, BY_OPERATOR } from '../../../src/tenants/audit/audit-log.ts';
import { AccountClient, newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const WINDOW_MS = 15 * 60_000;

describe('Registering and signing in', () => {
  let api: TestApi;
  let other: TestApi;
  let uri: string;

  before(async () => {
    ({ uri } = await startMongo());
    const config = { PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: 5, PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: 20 };
    api = await openApi({ uri, config, trustedProxies: 1 });
    other = await openApi({ uri, config, trustedProxies: 1 });
  });
  after(async () => {
    await other.close();
    await api.close();
  });

  function pass(ms: number): void {
    for (const { domain } of [api, other]) domain.clock.pass(ms);
  }

  let lastAddress = 0;
  /** Sends a request from a new address, so that no test uses up the failures of another. */
  function from(address = `198.51.${++lastAddress}.1`) {
    return (path: string, body: unknown, url = api.url) =>
      callApi(url, 'POST', path, body, { 'x-forwarded-for': address });
  }

  it('creates an account on the free plan, whose token is valid in every process', async () => {
    const email = newEmail();
    const client = await signUp(api.url, email.toUpperCase());
    for (const url of [api.url, other.url]) {
      const me = await client.at(url).expect(200, 'GET', '/auth/me');
      assert.equal(me.email, email);
      assert.deepEqual([me.plan, me.signInBy, me.emailConfirmed], ['free', 'password', false]);
      assert.match(me.id, /^[\da-f-]{36}$/);
      assert.ok(Math.abs(Date.parse(me.createdAt) - Date.now()) < 10_000);
    }
  });

  it('gives a token for 12 hours for the right password', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    const response = await from()('/auth/login', { email: email.toUpperCase(), password: PASSWORD });
    assert.equal(response.status, 200);
    assert.equal(response.json.tokenType, 'Bearer');
    const hours = (Date.parse(response.json.expiresAt) - Date.now()) / 3_600_000;
    assert.ok(hours > 11.9 && hours <= 12, String(hours));
    await new AccountClient(api.url, response.json.accessToken).expect(200, 'GET', '/auth/me');
  });

  it('stores neither password nor token', async () => {
    const email = newEmail();
    const { token } = await signUp(api.url, email);
    for (const name of ['accounts', 'access_tokens', 'audit_log']) {
      const rows = JSON.stringify(await api.domain.connection.collection(name).find().toArray());
      assert.ok(!rows.includes(PASSWORD) && !rows.includes(token), name);
    }
  });

  it('rejects an expired token', async () => {
    const client = await signUp(api.url);
    pass(12 * 3_600_000 - 60_000);
    await client.expect(200, 'GET', '/auth/me');
    pass(61_000);
    await client.expect(401, 'GET', '/auth/me');
    const { _id } = (await api.domain.connection.collection('access_tokens').findOne({}))!;
    assert.ok((await api.tenants.deleteExpired(api.domain.clock.now())) > 0);
    assert.equal(await api.domain.connection.collection('access_tokens').countDocuments({ _id }), 0);
    pass(-12 * 3_600_000 - 1000);
  });

  it('revokes a token in every process within a second of a logout', async () => {
    const client = await signUp(api.url);
    await client.at(other.url).expect(200, 'GET', '/auth/me');
    await client.expect(200, 'POST', '/auth/logout');
    await client.expect(401, 'GET', '/auth/me');
    await sleep(1000);
    await client.at(other.url).expect(401, 'GET', '/auth/me');
  });

  it('issues no token that survives a concurrent change of the password', async () => {
    const logger = pino({ level: 'silent' });
    const connection = await connectDatabase(uri, logger);
    const accounts = new AccountStore(connection, api.domain.clock);
    const tokens = new AccessTokenStore(connection, api.domain.clock);
    const accountService = new AccountService({
      accounts,
      tokens,
      audit: new AuditLog(connection, api.domain.clock, logger),
      plans: api.plans,
    });
    const given: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      const email = newEmail();
      await signUp(api.url, email);
      const login = from();
      const signingIn = login('/auth/login', { email, password: PASSWORD });
      const changing = (async () => {
        await sleep(Math.random() * 80);
        const account = await accounts.findByEmail(email);
        await accountService.resetPassword(account!, 'another password', BY_OPERATOR);
      })();
      const [response] = await Promise.all([signingIn, changing]);
      if (response.status === 200) given.push(response.json.accessToken);
    }
    await sleep(1000);
    for (const token of given) await new AccountClient(api.url, token).expect(401, 'GET', '/auth/me');
    await connection.close();
  });

  it('rejects a malformed token', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer x',
      'Basic dTpw',
      `Bearer at_${'a'.repeat(43)}`,
      'Bearer a b',
    ]) {
      const response = await callApi(api.url, 'GET', '/auth/me', undefined, { authorization });
      assert.equal(response.status, 401, authorization);
      assert.equal(response.json.code, 'UNAUTHENTICATED');
    }
    assert.equal((await callApi(api.url, 'GET', '/auth/me')).status, 401);
  });

  it('responds with a challenge for a token, and says when one was rejected', async () => {
    const ended = await signUp(api.url);
    await ended.expect(200, 'POST', '/auth/logout');
    const challenge = async (authorization?: string) => {
      const headers = authorization === undefined ? undefined : { authorization };
      const response = await callApi(api.url, 'GET', '/user/api-keys', undefined, headers);
      return response.headers.get('www-authenticate');
    };
    for (const nothing of [undefined, 'Bearer', 'Basic dTpw']) {
      assert.equal(await challenge(nothing), 'Bearer realm="platen"', nothing);
    }
    for (const rejected of [`Bearer ${ended.token}`, 'bearer x', 'Bearer a b']) {
      assert.equal(await challenge(rejected), 'Bearer realm="platen", error="invalid_token"', rejected);
    }
    const wrong = await from()('/auth/login', { email: newEmail(), password: 'wrong password' });
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer realm="platen"');
  });

  it('names all errors of a registration', async () => {
    const response = await from()('/auth/register', { email: 'nobody', password: 'short', plan: 'business' });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json.message, [
      'email: must be a valid email',
      'password: must have at least 8 characters',
      'plan: is not known',
    ]);
    assert.equal(
      (await from()('/auth/register', { email: newEmail(), password: 'x'.repeat(201) })).status,
      400,
    );
    assert.equal(
      (await from()('/auth/register', { email: newEmail(), password: 'x'.repeat(200) })).status,
      201,
    );
  });

  it('accepts a password in every Unicode normalisation', async () => {
    const email = newEmail();
    const registered = await from()('/auth/register', { email, password: 'Caf\u00e9 Caf\u00e9' });
    assert.equal(registered.status, 201);
    assert.equal((await from()('/auth/login', { email, password: 'Cafe\u0301 Cafe\u0301' })).status, 200);
  });

  describe('when addresses are tried out', () => {
    it('responds alike whether or not the address has an account', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const attempts = [
        await from()('/auth/login', { email, password: 'wrong password' }),
        await from()('/auth/login', { email: newEmail(), password: 'wrong password' }),
        await from()('/auth/register', { email, password: 'another password' }),
      ];
      const bodies = attempts.map(({ json }) => ({ ...json, requestId: '' }));
      assert.deepEqual(bodies[1], bodies[0]);
      assert.deepEqual(bodies[2], bodies[0]);
      assert.equal(bodies[0].statusCode, 401);
      const names = attempts.map(({ headers }) => [...headers.keys()].sort());
      assert.deepEqual(names[1], names[0]);
      assert.deepEqual(names[2], names[0]);
    });

    it('hashes the password in both cases, which takes most of the time', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      for (const address of [email, newEmail()]) {
        const derived = await keysDerived(async () => {
          const response = await from()('/auth/login', { email: address, password: 'wrong password' });
          assert.equal(response.status, 401);
        });
        assert.equal(derived, 1);
      }
    });

    it('does not change the account when its address is registered again', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      await from()('/auth/register', { email, password: 'another password' });
      assert.equal((await from()('/auth/login', { email, password: 'another password' })).status, 401);
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 200);
    });
  });

  describe('A sign-in after too many failures', () => {
    // Well inside a window, so that none ends during a test.
    beforeEach(() => pass(WINDOW_MS + 1000 - (api.domain.clock.now().getTime() % WINDOW_MS)));

    it('is rejected for that account and network in every process, with the right Retry-After', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const attempt = from();
      const responses = await Promise.all(
        Array.from({ length: 15 }, (_, n) =>
          attempt('/auth/login', { email, password: 'wrong password' }, n % 2 ? api.url : other.url),
        ),
      );
      assert.equal(responses.filter(({ status }) => status === 401).length, 5);
      assert.equal(responses.filter(({ status }) => status === 429).length, 10);
      const rejected = await attempt('/auth/login', { email, password: PASSWORD });
      assert.equal(rejected.status, 429);
      assert.equal(rejected.json.code, 'TOO_MANY_FAILURES');
      const seconds = Number(rejected.headers.get('retry-after'));
      assert.ok(seconds > 0 && seconds <= 900, String(seconds));
      pass(seconds * 1000 - 20_000);
      assert.equal((await attempt('/auth/login', { email, password: PASSWORD })).status, 429);
      pass(20_000);
      assert.equal((await attempt('/auth/login', { email, password: PASSWORD })).status, 200);
    });

    it('is allowed for that account from other networks', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      // Each attempt comes from another /64 of the same /48.
      for (let n = 0; n < 30; n += 1) {
        const attempt = from(`2001:db8:9:${n.toString(16)}::1`);
        const path = n % 2 ? '/auth/login' : '/auth/register';
        const { status } = await attempt(path, { email, password: 'wrong password' });
        assert.equal(status, n < 5 ? 401 : 429, `attempt ${n}`);
      }
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 200);
    });

    it('is rejected for that account from every network, past ten times as many', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const responses: number[] = [];
      for (let n = 0; n < 55; n += 1) {
        const response = await from()(
          '/auth/login',
          { email, password: 'wrong' },
          n % 2 ? api.url : other.url,
        );
        responses.push(response.status);
      }
      assert.equal(responses.filter((status) => status === 401).length, 50);
      assert.equal(responses.filter((status) => status === 429).length, 5);
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 429);
    });

    it('is rejected alike for an address without an account', async () => {
      const email = newEmail();
      const attempt = from();
      for (let n = 0; n < 5; n += 1) await attempt('/auth/login', { email, password: 'wrong password' });
      assert.equal((await attempt('/auth/login', { email, password: 'wrong password' })).status, 429);
      assert.equal((await attempt('/auth/register', { email, password: PASSWORD })).status, 429);
    });

    it('is rejected for that client address, or its IPv6 network, and for no other', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      for (let n = 0; n < 20; n += 1) {
        const response = await from(`2001:db8:7:7::${n}`)('/auth/login', {
          email: newEmail(),
          password: 'wrong',
        });
        assert.equal(response.status, 401);
      }
      const login = { email, password: PASSWORD };
      assert.equal((await from('2001:db8:7:7:1:2:3:4')('/auth/login', login)).status, 429);
      assert.equal((await from('2001:db8:7:8::1')('/auth/login', login)).status, 200);
    });

    it('is not limited by successful sign-ins', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const login = from();
      for (let n = 0; n < 25; n += 1) {
        assert.equal((await login('/auth/login', { email, password: PASSWORD })).status, 200);
      }
    });
  });
});

/** How many keys Node derived from passwords during a call. */
async function keysDerived(task: () => Promise<void>): Promise<number> {
  let derived = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'ARGON2REQUEST') derived += 1;
    },
  }).enable();
  await task();
  hook.disable();
  return derived;
}
