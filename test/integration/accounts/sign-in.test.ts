import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { AccessTokenStore } from '../../../src/accounts/access-token-store.ts';
import { AccountService } from '../../../src/accounts/account-service.ts';
import { AccountStore } from '../../../src/accounts/account-store.ts';
import { AuditLog, BY_OPERATOR } from '../../../src/audit/audit-log.ts';
import { connectDatabase } from '../../../src/store/connection.ts';
import { AccountClient, newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const WINDOW_MS = 15 * 60_000;

describe('signing up, in and out', function () {
  this.timeout(120_000);
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
  /** As from an address of its own, so that no test uses up another's failures. */
  function from(address = `198.51.${++lastAddress}.1`) {
    return (path: string, body: unknown, url = api.url) =>
      callApi(url, 'POST', path, body, { 'x-forwarded-for': address });
  }

  it('opens an account on the free plan, whose token works at every process', async () => {
    const email = newEmail();
    const client = await signUp(api.url, email.toUpperCase());
    for (const url of [api.url, other.url]) {
      const me = await client.at(url).expect(200, 'GET', '/auth/me');
      assert.equal(me.email, email);
      assert.equal(me.plan, 'free');
      assert.match(me.id, /^[\da-f-]{36}$/);
      assert.ok(Math.abs(Date.parse(me.createdAt) - Date.now()) < 10_000);
    }
  });

  it('gives a token for 12 hours to whoever has the password', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    const answer = await from()('/auth/login', { email: email.toUpperCase(), password: PASSWORD });
    assert.equal(answer.status, 200);
    assert.equal(answer.json.tokenType, 'Bearer');
    const hours = (Date.parse(answer.json.expiresAt) - Date.now()) / 3_600_000;
    assert.ok(hours > 11.9 && hours <= 12, String(hours));
    await new AccountClient(api.url, answer.json.accessToken).expect(200, 'GET', '/auth/me');
  });

  it('keeps neither password nor token', async () => {
    const email = newEmail();
    const { token } = await signUp(api.url, email);
    for (const name of ['accounts', 'access_tokens', 'audit_log']) {
      const rows = JSON.stringify(await api.domain.connection.collection(name).find().toArray());
      assert.ok(!rows.includes(PASSWORD) && !rows.includes(token), name);
    }
  });

  it('ends a token by its age', async () => {
    const client = await signUp(api.url);
    pass(12 * 3_600_000 - 60_000);
    await client.expect(200, 'GET', '/auth/me');
    pass(61_000);
    await client.expect(401, 'GET', '/auth/me');
    const { _id } = (await api.domain.connection.collection('access_tokens').findOne({}))!;
    assert.ok((await api.accountServices.deleteExpired(api.domain.clock.now())) > 0);
    assert.equal(await api.domain.connection.collection('access_tokens').countDocuments({ _id }), 0);
    pass(-12 * 3_600_000 - 1000);
  });

  it('ends a token at every process within a second of logging out', async () => {
    const client = await signUp(api.url);
    await client.at(other.url).expect(200, 'GET', '/auth/me');
    await client.expect(200, 'POST', '/auth/logout');
    await client.expect(401, 'GET', '/auth/me');
    await sleep(1000);
    await client.at(other.url).expect(401, 'GET', '/auth/me');
  });

  it('gives no token that outlives a change of the password, however close the two are', async () => {
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
      const [answer] = await Promise.all([signingIn, changing]);
      if (answer.status === 200) given.push(answer.json.accessToken);
    }
    await sleep(1000);
    for (const token of given) await new AccountClient(api.url, token).expect(401, 'GET', '/auth/me');
    await connection.close();
  });

  it('refuses what is no token', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer x',
      'Basic dTpw',
      `Bearer at_${'a'.repeat(43)}`,
      'Bearer a b',
    ]) {
      const answer = await callApi(api.url, 'GET', '/auth/me', undefined, { authorization });
      assert.equal(answer.status, 401, authorization);
      assert.equal(answer.json.code, 'UNAUTHENTICATED');
    }
    assert.equal((await callApi(api.url, 'GET', '/auth/me')).status, 401);
  });

  it('challenges for a token, and says when one was refused', async () => {
    const ended = await signUp(api.url);
    await ended.expect(200, 'POST', '/auth/logout');
    const challenge = async (authorization?: string) => {
      const headers = authorization === undefined ? undefined : { authorization };
      const answer = await callApi(api.url, 'GET', '/user/api-keys', undefined, headers);
      return answer.headers.get('www-authenticate');
    };
    for (const nothing of [undefined, 'Bearer', 'Basic dTpw']) {
      assert.equal(await challenge(nothing), 'Bearer realm="platen"', nothing);
    }
    for (const refused of [`Bearer ${ended.token}`, 'bearer x', 'Bearer a b']) {
      assert.equal(await challenge(refused), 'Bearer realm="platen", error="invalid_token"', refused);
    }
    const wrong = await from()('/auth/login', { email: newEmail(), password: 'wrong password' });
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer realm="platen"');
  });

  it('names every fault of a registration at once', async () => {
    const answer = await from()('/auth/register', { email: 'nobody', password: 'short', plan: 'business' });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json.message, [
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

  it('takes a password however its letters are composed', async () => {
    const email = newEmail();
    const registered = await from()('/auth/register', { email, password: 'Caf\u00e9 Caf\u00e9' });
    assert.equal(registered.status, 201);
    assert.equal((await from()('/auth/login', { email, password: 'Cafe\u0301 Cafe\u0301' })).status, 200);
  });

  describe('to somebody who tries out addresses', () => {
    it('answers the same whether the address has an account or not', async () => {
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

    it('derives a key for it all the same, which is what takes long', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      for (const address of [email, newEmail()]) {
        const derived = await keysDerived(async () => {
          const answer = await from()('/auth/login', { email: address, password: 'wrong password' });
          assert.equal(answer.status, 401);
        });
        assert.equal(derived, 1);
      }
    });

    it('does not change the account whose address is registered again', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      await from()('/auth/register', { email, password: 'another password' });
      assert.equal((await from()('/auth/login', { email, password: 'another password' })).status, 401);
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 200);
    });
  });

  describe('after too many failures', () => {
    // Well inside a window: none may end in the middle of a test.
    beforeEach(() => pass(WINDOW_MS + 1000 - (api.domain.clock.now().getTime() % WINDOW_MS)));

    it('refuses an account at every process, to where they came from, and says truly for how long', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const attempt = from();
      const answers = await Promise.all(
        Array.from({ length: 15 }, (_, n) =>
          attempt('/auth/login', { email, password: 'wrong password' }, n % 2 ? api.url : other.url),
        ),
      );
      assert.equal(answers.filter(({ status }) => status === 401).length, 5);
      assert.equal(answers.filter(({ status }) => status === 429).length, 10);
      const refused = await attempt('/auth/login', { email, password: PASSWORD });
      assert.equal(refused.status, 429);
      assert.equal(refused.json.code, 'TOO_MANY_FAILURES');
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(seconds > 0 && seconds <= 900, String(seconds));
      pass(seconds * 1000 - 20_000);
      assert.equal((await attempt('/auth/login', { email, password: PASSWORD })).status, 429);
      pass(20_000);
      assert.equal((await attempt('/auth/login', { email, password: PASSWORD })).status, 200);
    });

    it('lets its owner in from elsewhere, whatever one network tries', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      // Each from another /64 of one /48.
      for (let n = 0; n < 30; n += 1) {
        const attempt = from(`2001:db8:9:${n.toString(16)}::1`);
        const path = n % 2 ? '/auth/login' : '/auth/register';
        const { status } = await attempt(path, { email, password: 'wrong password' });
        assert.equal(status, n < 5 ? 401 : 429, `attempt ${n}`);
      }
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 200);
    });

    it('refuses an account from wherever, past ten times as many', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const answers: number[] = [];
      for (let n = 0; n < 55; n += 1) {
        const answer = await from()('/auth/login', { email, password: 'wrong' }, n % 2 ? api.url : other.url);
        answers.push(answer.status);
      }
      assert.equal(answers.filter((status) => status === 401).length, 50);
      assert.equal(answers.filter((status) => status === 429).length, 5);
      assert.equal((await from()('/auth/login', { email, password: PASSWORD })).status, 429);
    });

    it('refuses an address that has no account just so', async () => {
      const email = newEmail();
      const attempt = from();
      for (let n = 0; n < 5; n += 1) await attempt('/auth/login', { email, password: 'wrong password' });
      assert.equal((await attempt('/auth/login', { email, password: 'wrong password' })).status, 429);
      assert.equal((await attempt('/auth/register', { email, password: PASSWORD })).status, 429);
    });

    it('refuses a client address, of IPv6 its whole network, and nobody else', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      for (let n = 0; n < 20; n += 1) {
        const answer = await from(`2001:db8:7:7::${n}`)('/auth/login', {
          email: newEmail(),
          password: 'wrong',
        });
        assert.equal(answer.status, 401);
      }
      const login = { email, password: PASSWORD };
      assert.equal((await from('2001:db8:7:7:1:2:3:4')('/auth/login', login)).status, 429);
      assert.equal((await from('2001:db8:7:8::1')('/auth/login', login)).status, 200);
    });

    it('does not count those who sign in', async () => {
      const email = newEmail();
      await signUp(api.url, email);
      const login = from();
      for (let n = 0; n < 25; n += 1) {
        assert.equal((await login('/auth/login', { email, password: PASSWORD })).status, 200);
      }
    });
  });
});

/** How many keys Node derived from passwords meanwhile. */
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
