import assert from 'node:assert/strict';
import { API_ROUTES } from '../../../src/http/app.ts';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('A session of a browser', () => {
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri });
    other = await openApi({ uri });
  });
  after(async () => {
    await other.close();
    await api.close();
  });

  function pass(ms: number): void {
    for (const { domain } of [api, other]) domain.clock.pass(ms);
  }

  const open = (email?: string) => openBrowser(api.url, email);
  async function assertEnded(browser: Browser): Promise<void> {
    const response = await browser.call('GET', '/auth/me');
    assert.deepEqual([response.status, response.json.code], [401, 'UNAUTHENTICATED']);
  }

  it('has a cookie that scripts cannot read and other sites do not send, for 12 hours', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    const credentials = { email, password: PASSWORD };
    const response = await callApi(api.url, 'POST', '/auth/session', credentials, SAME_ORIGIN);
    assert.equal(response.status, 201);
    const [cookie, ...others] = response.headers.getSetCookie();
    assert.deepEqual(others, []);
    assert.match(
      cookie!,
      /^platen_session=st_[\w-]{43}; Path=\/; Max-Age=43[12]\d\d; HttpOnly; SameSite=Strict$/,
    );
    const { account, expiresAt, idleTimeoutSeconds } = response.json;
    assert.deepEqual([account.email, idleTimeoutSeconds], [email, 7200]);
    assert.equal(Date.parse(expiresAt) - api.domain.clock.now().getTime() > 11.9 * HOUR_MS, true);
    assert.ok(!Buffer.from(response.bytes).toString().includes('st_'), 'the token is in the cookie alone');
    assert.ok(!api.log.some((line) => line.includes('st_')), 'nor is it logged');
    const me = await new Browser(other.url, email, cookieOf(response)).expect(200, 'GET', '/auth/me');
    assert.equal(me.id, account.id);
  });

  it('opens the routes of an account, as a bearer token does', async () => {
    const browser = await open();
    const { id } = await browser.expect(201, 'POST', '/user/api-keys', { name: 'a key' });
    await browser.expect(200, 'DELETE', `/user/api-keys/${id}`);
    await browser.expect(200, 'GET', '/user/usage');
  });

  it('is not accepted by /v1, only by /user and /auth', async () => {
    const browser = await open();
    for (const [method, path] of [
      ['GET', '/v1/pdf/jobs'],
      ['POST', '/v1/pdf'],
      ['GET', '/v1/pdf/batch'],
    ] as const) {
      const response = await browser.call(method, path, method === 'POST' ? { html: 'x' } : undefined);
      assert.deepEqual([response.status, response.json.code], [401, 'UNAUTHENTICATED'], path);
    }
    const readers = API_ROUTES.filter(({ auth }) => auth === 'bearer' || auth === 'page');
    assert.ok(readers.length > 20);
    for (const { path } of readers) assert.match(path, /^\/(user|auth)\//);
  });

  describe('with a request of another site', () => {
    const FORGED: readonly (readonly [from: string, headers: Record<string, string>])[] = [
      ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
      ['a sister domain', { 'sec-fetch-site': 'same-site', origin: 'https://blog.example.com' }],
      ['the address bar', { 'sec-fetch-site': 'none' }],
      ['another origin, by a browser that sends only Origin', { origin: 'https://evil.example' }],
      ['the same host on another port', { origin: 'http://127.0.0.1:1' }],
      ['a page without an origin', { origin: 'null' }],
      ['an unknown origin', {}],
    ];
    for (const [from, headers] of FORGED) {
      it(`is rejected ${from}`, async () => {
        const browser = await open();
        const forged = await browser.call('POST', '/user/webhook-keys/rotate', undefined, headers);
        assert.deepEqual([forged.status, forged.json.code], [403, 'ORIGIN_NOT_ALLOWED']);
        assert.deepEqual((await browser.expect(200, 'GET', '/user/webhook-keys')).keys, []);
        const signIn = { email: browser.email, password: PASSWORD };
        const made = await callApi(api.url, 'POST', '/auth/session', signIn, headers);
        assert.deepEqual([made.status, made.json.code], [403, 'ORIGIN_NOT_ALLOWED']);
        assert.deepEqual(made.headers.getSetCookie(), []);
      });
    }

    it('is rejected with an error that names the setting of the origin', async () => {
      const browser = await open();
      const headers = { origin: 'https://pdf.example.com' };
      const { json } = await browser.call('DELETE', '/auth/session', undefined, headers);
      for (const part of ['https://pdf.example.com', api.url, 'PLATEN_PUBLIC_URL'])
        assert.ok(json.message.includes(part), json.message);
    });

    it('is accepted when Origin is the public origin and Sec-Fetch-Site is absent', async () => {
      const browser = await open();
      const response = await browser.call('DELETE', '/auth/session', undefined, { origin: api.url });
      assert.equal(response.status, 200);
    });

    it('is not begun without credentials, or with two kinds of them', async () => {
      const { email } = await open();
      const [credentials, oneTimeToken] = [{ email, password: PASSWORD }, 'x'];
      const passkey = { id: 'eA', clientDataJSON: 'e30', authenticatorData: 'eA', signature: 'eA' };
      for (const body of [
        {},
        { email },
        { password: PASSWORD },
        { ...credentials, oneTimeToken },
        { oneTimeToken, passkey },
        { email, passkey },
      ]) {
        const response = await callApi(api.url, 'POST', '/auth/session', body, SAME_ORIGIN);
        assert.deepEqual([response.status, response.json.code], [400, 'VALIDATION']);
        assert.match(response.json.message[0], /email and password, passkey, or oneTimeToken/);
      }
    });

    it('is not begun with a body of another media type', async () => {
      const { email } = await open();
      const body = JSON.stringify({ email, password: PASSWORD });
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const headers = { ...SAME_ORIGIN, 'content-type': type };
        const response = await callApi(api.url, 'POST', '/auth/session', body, headers);
        assert.deepEqual([response.status, response.json.code], [400, 'UNSUPPORTED_MEDIA_TYPE']);
      }
    });
  });

  it('is begun once by the token of a link, within an hour, only from pages of the public origin', async () => {
    const { accounts, tenants } = api;
    const account = (await accounts.create(newEmail(), null, 'business'))!;
    const offer = () => tenants.signIn.offerLink(account);
    const begin = (oneTimeToken: string, headers: Record<string, string> = SAME_ORIGIN) =>
      callApi(api.url, 'POST', '/auth/session', { oneTimeToken }, headers);
    const token = await offer();
    assert.equal((await begin(token, { origin: 'https://evil.example' })).json.code, 'ORIGIN_NOT_ALLOWED');
    const both = await Promise.all([begin(token), begin(token)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 403]);
    assert.equal(both.find(({ status }) => status === 201)!.json.account.id, account._id);
    assert.equal((await begin(token)).json.code, 'LINK_INVALID');
    assert.equal((await begin('x')).json.code, 'LINK_INVALID');
    const before = await offer();
    pass(MINUTE_MS);
    await accounts.endTokens(account._id);
    assert.equal((await begin(before)).json.code, 'LINK_INVALID', 'all of the account was ended since');
    const late = await offer();
    pass(HOUR_MS);
    assert.equal((await begin(late)).json.code, 'LINK_INVALID');
  });

  it('is ignored with an Authorization header, valid or not', async () => {
    const browser = await open();
    const somebody = await signUp(api.url);
    const good = { authorization: `Bearer ${somebody.token}` };
    const { id } = await somebody.expect(200, 'GET', '/auth/me');
    assert.equal((await browser.call('GET', '/auth/me', undefined, good)).json.id, id);
    const bad = await browser.call('GET', '/auth/me', undefined, { authorization: 'Bearer at_x' });
    assert.equal(bad.status, 401);
    // Another site cannot make a browser send a header that a script has to set.
    assert.equal((await browser.call('POST', '/auth/logout', undefined, good)).status, 200);
    await browser.expect(200, 'GET', '/auth/me');
  });

  it('is no bearer token, and a bearer token is no session', async () => {
    const browser = await open();
    const [, token] = browser.cookie.split('=');
    const asBearer = await callApi(api.url, 'GET', '/auth/me', undefined, {
      authorization: `Bearer ${token}`,
    });
    assert.equal(asBearer.status, 401);
    const client = await signUp(api.url);
    await assertEnded(new Browser(api.url, '', `platen_session=${client.token}`));
  });

  it('is not accepted after sign-out, in any process within a second', async () => {
    const browser = await open();
    const elsewhere = browser.at(other.url);
    await elsewhere.expect(200, 'GET', '/auth/me');
    const out = await browser.call('DELETE', '/auth/session');
    assert.match(out.headers.getSetCookie()[0]!, /^platen_session=; Path=\/; Max-Age=0;/);
    await assertEnded(browser);
    pass(1000);
    await assertEnded(elsewhere);
  });

  it('ends after 2 hours without use, and after 12 hours in all', async () => {
    const [used, left] = [await open(), await open()];
    for (let hours = 0; hours < 11; hours += 1) {
      pass(HOUR_MS);
      await used.expect(200, 'GET', '/auth/me');
      if (hours === 1) await assertEnded(left);
    }
    pass(HOUR_MS);
    await assertEnded(used);
  });

  it("is new at each sign-in, which ends the browser's old session", async () => {
    const browser = await open();
    const credentials = { email: browser.email, password: PASSWORD };
    const again = await browser.call('POST', '/auth/session', credentials);
    assert.equal(again.status, 201);
    assert.notEqual(cookieOf(again), browser.cookie);
    await assertEnded(browser);
    browser.cookie = cookieOf(again);
    assert.equal((await browser.expect(200, 'GET', '/auth/sessions')).total, 1);
  });

  it('is not begun with a wrong password', async () => {
    const browser = await open();
    const wrong = { email: browser.email, password: 'not the password' };
    const response = await browser.call('POST', '/auth/session', wrong);
    assert.deepEqual([response.status, response.headers.getSetCookie()], [401, []]);
    await browser.expect(200, 'GET', '/auth/me');
  });

  it('is listed for its account, which can end it', async () => {
    const first = await open();
    const headers = { ...SAME_ORIGIN, 'user-agent': `Browser/1 ${'x'.repeat(1000)}` };
    const credentials = { email: first.email, password: PASSWORD };
    const made = await callApi(other.url, 'POST', '/auth/session', credentials, headers);
    const second = new Browser(other.url, first.email, cookieOf(made));
    pass(2 * MINUTE_MS);
    const { total, sessions } = await second.expect(200, 'GET', '/auth/sessions');
    assert.equal(total, 2);
    assert.deepEqual(
      sessions.map(({ current }: { current: boolean }) => current),
      [true, false],
    );
    assert.equal(sessions[0].userAgent.length, 256);
    assert.equal(sessions[0].ipAddress, '127.0.0.1');
    const stranger = await open();
    const foreign = await stranger.call('DELETE', `/auth/sessions/${sessions[1].id}`);
    assert.deepEqual([foreign.status, foreign.json.code], [404, 'NOT_FOUND']);
    await second.expect(200, 'DELETE', `/auth/sessions/${sessions[1].id}`);
    pass(1000);
    await assertEnded(first);
    assert.equal((await second.call('DELETE', `/auth/sessions/${sessions[1].id}`)).status, 404);
    const after = await second.expect(200, 'GET', '/auth/sessions?limit=1');
    assert.equal(after.total, 1);
    assert.ok(Date.parse(after.sessions[0].lastUsedAt) > Date.parse(after.sessions[0].createdAt));
  });

  it('requires the password again before a secret is shown', async () => {
    const browser = await open();
    const key = await browser.expect(201, 'POST', '/user/api-keys', { name: 'first' });
    pass(6 * MINUTE_MS);
    for (const [path, body] of [
      ['/user/api-keys', { name: 'second' }],
      [`/user/api-keys/${key.id}/rotate`, undefined],
      ['/user/webhook-keys/rotate', undefined],
    ] as const) {
      const response = await browser.call('POST', path, body);
      assert.deepEqual([response.status, response.json.code], [403, 'PASSWORD_REQUIRED'], path);
    }
    const credentials = { email: browser.email, password: PASSWORD };
    browser.cookie = cookieOf(await browser.call('POST', '/auth/session', credentials));
    await browser.expect(200, 'POST', `/user/api-keys/${key.id}/rotate`);
  });

  it('that was begun by a link requires no password of an account without one', async () => {
    const { accounts, tenants } = api;
    const account = (await accounts.create(newEmail(), null, 'business'))!;
    const oneTimeToken = await tenants.signIn.offerLink(account);
    const begun = await callApi(api.url, 'POST', '/auth/session', { oneTimeToken }, SAME_ORIGIN);
    const browser = new Browser(api.url, '', cookieOf(begun));
    pass(6 * MINUTE_MS);
    const { id } = await browser.expect(201, 'POST', '/user/api-keys', { name: 'late' });
    await browser.expect(200, 'POST', `/user/api-keys/${id}/rotate`);
  });

  it('is rejected when a browser sends two of them, one of which a neighbouring host may have set', async () => {
    const [one, two] = [await open(), await open()];
    await assertEnded(new Browser(api.url, '', `${one.cookie}; ${two.cookie}`));
    await new Browser(api.url, '', `a=b; ${one.cookie}; c=d`).expect(200, 'GET', '/auth/me');
  });
});

describe('The public configuration of sign-in', () => {
  it('has who may register, and the length of passwords', async () => {
    const api = await openApi({ config: { PLATEN_REGISTRATION: 'invite' } });
    try {
      const { status, json } = await callApi(api.url, 'GET', '/auth/config');
      assert.equal(status, 200);
      assert.deepEqual(json, { registration: 'invite', issuer: false, passwordLength: { min: 8, max: 200 } });
    } finally {
      await api.close();
    }
  });
});
