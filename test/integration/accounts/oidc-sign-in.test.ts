import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AccountClient, newEmail, signUp } from '../../support/account-client.ts';
import { openIssuer, type TestIssuer } from '../../support/oidc-issuer.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { RedirectedBrowser } from './support/redirected-browser.ts';

const CALLBACK = '/auth/oidc/callback';

describe('Signing in at an OpenID Connect issuer with a browser', () => {
  let issuer: TestIssuer;
  let api: TestApi;

  before(async () => {
    issuer = await openIssuer();
    api = await openApi({
      config: {
        PLATEN_OIDC_ISSUER: issuer.issuer,
        PLATEN_OIDC_AUDIENCE: issuer.audience,
        PLATEN_OIDC_CLIENT_ID: issuer.client.id,
        PLATEN_OIDC_CLIENT_SECRET: issuer.client.secret,
      },
    });
    issuer.client.redirectUris.push(api.url + CALLBACK);
  });
  beforeEach(() => issuer.browserOf({ subject: `subject-${randomUUID()}`, email: newEmail() }));
  after(async () => {
    await api.close();
    await issuer.stop();
  });

  class Browser extends RedirectedBrowser {
    constructor() {
      super(api.url);
    }

    override signIn(returnTo = '/dashboard'): Promise<string> {
      return super.signIn(start(returnTo));
    }
  }

  const start = (returnTo = '/dashboard') =>
    `${api.url}/auth/oidc/start?returnTo=${encodeURIComponent(returnTo)}`;
  const cookiesOf = (browser: Browser) => browser.cookies.get(api.url)!;

  it('gives a session for the account of the issuer’s tokens, and leads to the requested page', async () => {
    const subject = { subject: `subject-${randomUUID()}`, email: newEmail() };
    issuer.browserOf(subject);
    const browser = new Browser();
    assert.equal(
      await browser.signIn('/dashboard/renders?status=failed'),
      `${api.url}/dashboard/renders?status=failed`,
    );
    const { email, id } = await browser.account();
    assert.equal(email, subject.email);
    const bearer = await new AccountClient(api.url, await issuer.token(subject)).expect(
      200,
      'GET',
      '/auth/me',
    );
    assert.deepEqual([bearer.id, bearer.signInBy, bearer.emailConfirmed], [id, 'issuer', true]);
    const log = await (await browser.request(`${api.url}/user/audit-log`)).json();
    assert.deepEqual((log as { entries: { action: string }[] }).entries.map(({ action }) => action).sort(), [
      'account.registered',
      'account.signed_in',
    ]);
    const again = new Browser();
    await again.signIn();
    assert.equal((await again.account()).id, id, 'the same account the second time');
  });

  it('sets cookies that scripts cannot read, and a session’s cookie that other sites’ requests do not send', async () => {
    const browser = new Browser();
    const begun = await browser.request(start());
    assert.match(begun.headers.get('set-cookie')!, /; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const callback = await browser.until(begun.headers.get('location')!, api.url + CALLBACK);
    const session = (await browser.request(callback)).headers.get('set-cookie')!;
    assert.match(session, /^platen_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  });

  it('waits once for an issuer that hangs, and not once for each browser', async () => {
    const browsers = [new Browser(), new Browser(), new Browser()];
    const callbacks: string[] = [];
    for (const browser of browsers) callbacks.push(await browser.until(start(), api.url + CALLBACK));
    issuer.hang(true);
    const requests = issuer.hungRequests();
    const replies = await Promise.all(browsers.map((browser, i) => browser.request(callbacks[i]!)));
    for (const reply of replies)
      assert.match(reply.headers.get('location') ?? '', /\/dashboard\/sign-in\?issuer=away$/);
    assert.equal(issuer.hungRequests() - requests, 1);
    issuer.hang(false);
    api.domain.clock.pass(5000);
    await new Browser().signIn();
  });

  it('is required again before a secret is shown', async () => {
    const browser = new Browser();
    await browser.signIn();
    const makeKey = async () => {
      const response = await browser.request(`${api.url}/user/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ name: 'key' }),
      });
      await response.body?.cancel();
      return response.status;
    };
    api.domain.clock.pass(6 * 60_000);
    try {
      assert.equal(await makeKey(), 403);
    } finally {
      api.domain.clock.pass(-6 * 60_000);
    }
    await browser.signIn('/dashboard/keys');
    assert.equal(await makeKey(), 201);
  });

  it('does not open an account that only has the same address', async () => {
    const email = newEmail();
    const registered = await (await signUp(api.url, email)).expect(200, 'GET', '/auth/me');
    issuer.browserOf({ subject: `subject-${randomUUID()}`, email });
    const browser = new Browser();
    await browser.signIn();
    assert.notEqual((await browser.account()).id, registered.id);
  });

  it('accepts a response of the issuer once, and only from the browser that began', async () => {
    const browser = new Browser();
    const callback = await browser.until(start(), api.url + CALLBACK);
    const other = new Browser();
    assert.match(await other.until(callback, `${api.url}/dashboard`), /issuer=late$/);
    await other.request(start());
    assert.match(await other.until(callback, `${api.url}/dashboard`), /issuer=refused$/);
    assert.equal((await other.account()).status, 401);

    const pending = cookiesOf(browser).get('platen_oidc')!;
    assert.equal(await browser.until(callback, `${api.url}/dashboard`), `${api.url}/dashboard`);
    cookiesOf(browser).clear();
    cookiesOf(browser).set('platen_oidc', pending);
    assert.match(await browser.until(callback, `${api.url}/dashboard`), /issuer=refused$/);
  });

  for (const [what, change] of [
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['another verifier', { codeVerifier: 'x'.repeat(43) }],
    ['a page elsewhere to return to', { returnTo: 'https://elsewhere.test/dashboard' }],
    ['a field too many', { more: 'x' }],
  ] as const) {
    it(`fails for a browser that comes back with ${what}`, async () => {
      const browser = new Browser();
      const callback = await browser.until(start(), api.url + CALLBACK);
      const pending = JSON.parse(Buffer.from(cookiesOf(browser).get('platen_oidc')!, 'base64url').toString());
      const changed = Buffer.from(JSON.stringify({ ...pending, ...change })).toString('base64url');
      cookiesOf(browser).set('platen_oidc', changed);
      assert.match(await browser.until(callback, `${api.url}/dashboard`), /sign-in\?issuer=(refused|late)$/);
      assert.equal((await browser.account()).status, 401);
    });
  }

  it('reports that the issuer has rejected it', async () => {
    issuer.browserOf(undefined);
    assert.equal(await new Browser().signIn(), `${api.url}/dashboard/sign-in?issuer=refused`);
  });

  it('rejects somebody whose subject cannot be used, and does not keep others from signing in', async () => {
    issuer.browserOf({ subject: 'x'.repeat(300), email: newEmail() });
    assert.equal(await new Browser().signIn(), `${api.url}/dashboard/sign-in?issuer=refused`);
    issuer.browserOf({ subject: `subject-${randomUUID()}`, email: newEmail() });
    assert.equal(await new Browser().signIn(), `${api.url}/dashboard`);
  });

  it('reports that the issuer is unreachable, and works again when it is reachable', async () => {
    const browser = new Browser();
    const callback = await browser.until(start(), api.url + CALLBACK);
    await issuer.stop();
    assert.match(await browser.until(callback, `${api.url}/dashboard`), /sign-in\?issuer=away$/);
    await issuer.start();
    const again = new Browser();
    assert.equal(await again.signIn(), `${api.url}/dashboard`);
  });

  for (const page of [
    'https://elsewhere.test/dashboard',
    '//elsewhere.test/dashboard',
    '/\\elsewhere.test/dashboard',
    '/dashboard/../auth/me',
    '/dashboards',
    '/v1/pdf',
    'dashboard',
    '/dashboard\n',
  ]) {
    it(`leads back only to pages of the dashboard, not to ${JSON.stringify(page)}`, async () => {
      const response = await fetch(start(page), { redirect: 'manual' });
      assert.equal(response.status, 400);
      assert.match(
        JSON.stringify(await response.json()),
        /returnTo.*must be the path of a page under \/dashboard/,
      );
    });
  }

  it('is available only when an issuer is configured, as GET /auth/config reports', async () => {
    const without = await openApi();
    try {
      const config = async (url: string) =>
        (await (await fetch(`${url}/auth/config`)).json()) as { issuer: boolean };
      assert.equal((await config(api.url)).issuer, true);
      assert.equal((await config(without.url)).issuer, false);
      for (const path of ['/auth/oidc/start', CALLBACK])
        assert.equal((await fetch(without.url + path, { redirect: 'manual' })).status, 404);
    } finally {
      await without.close();
    }
  });
});
