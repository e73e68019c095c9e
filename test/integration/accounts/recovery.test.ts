import assert from 'node:assert/strict';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { type Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { callApi, useApi } from '../http/support/api.ts';

const NEW_PASSWORD = 'another battery, another staple';
const HOUR_MS = 3_600_000;

describe('Account recovery', () => {
  const api = useApi({ trustedProxies: 1 });

  let lastAddress = 0;
  /** Sends a request like a page, from a new address, so that no test uses up the mails of another. */
  const send = (path: string, body: unknown, address = `198.51.${++lastAddress}.1`) =>
    callApi(api.url, 'POST', path, body, { ...SAME_ORIGIN, 'x-forwarded-for': address });

  async function mailsTo(email: string, kind: string): Promise<Mail[]> {
    await api.tenants.recovery.flush();
    const mails = api.domain.connection.collection<Mail>('mails');
    const found = await mails.find({ to: email }).sort({ createdAt: 1 }).toArray();
    return (found as unknown as Mail[]).filter(({ content }) => content.kind === kind);
  }
  const tokenOf = ({ content }: Mail) => (content.values as { token: string }).token;

  async function forgotten(email: string): Promise<string> {
    assert.equal((await send('/auth/forgot', { email })).status, 202);
    return tokenOf((await mailsTo(email, 'password-reset')).at(-1)!);
  }

  async function signsIn(email: string, password: string): Promise<boolean> {
    const { status } = await send('/auth/login', { email, password });
    assert.ok([200, 401].includes(status));
    return status === 200;
  }

  async function assertEnded(browser: Browser): Promise<void> {
    assert.equal((await browser.call('GET', '/auth/me')).status, 401);
  }

  it('changes a password with the old one, and revokes all other sessions and tokens', async () => {
    const mine = await openBrowser(api.url);
    const other = await openBrowser(api.url, mine.email);
    const { accessToken } = (await send('/auth/login', { email: mine.email, password: PASSWORD })).json;
    const wrong = { currentPassword: 'not this one', newPassword: NEW_PASSWORD };
    const rejected = await mine.call('POST', '/auth/password', wrong);
    assert.deepEqual([rejected.status, rejected.json.code], [403, 'WRONG_PASSWORD']);
    await other.expect(200, 'GET', '/auth/me');
    const changed = await mine.call('POST', '/auth/password', {
      currentPassword: PASSWORD,
      newPassword: NEW_PASSWORD,
    });
    assert.equal(changed.status, 200);
    await assertEnded(mine);
    await assertEnded(other);
    const bearer = { authorization: `Bearer ${accessToken}` };
    assert.equal((await callApi(api.url, 'GET', '/auth/me', undefined, bearer)).status, 401);
    mine.cookie = cookieOf(changed);
    await mine.expect(200, 'GET', '/auth/me');
    assert.deepEqual(
      [await signsIn(mine.email, PASSWORD), await signsIn(mine.email, NEW_PASSWORD)],
      [false, true],
    );
  });

  it('resets a password once by a mailed link, and revokes all sessions and tokens', async () => {
    const browser = await openBrowser(api.url);
    const { email } = browser;
    const earlier = await forgotten(email);
    api.domain.clock.pass(1000);
    const token = await forgotten(email);
    assert.match(token, /^[\w-]{43}$/);
    assert.ok(!api.log.some((line) => line.includes(token)), 'it is not logged');
    assert.equal((await send('/auth/reset', { token, password: NEW_PASSWORD })).status, 200);
    await assertEnded(browser);
    assert.deepEqual([await signsIn(email, PASSWORD), await signsIn(email, NEW_PASSWORD)], [false, true]);
    for (const used of [token, earlier, 'x'.repeat(43)]) {
      const again = await send('/auth/reset', { token: used, password: PASSWORD });
      assert.deepEqual([again.status, again.json.code], [403, 'LINK_INVALID']);
    }
    assert.ok(
      (await api.accounts.findByEmail(email))?.emailVerifiedAt,
      'whoever has the link has the address',
    );
  });

  it('rejects a link that is an hour old or for another purpose', async () => {
    const client = await signUp(api.url);
    const { email } = await client.expect(200, 'GET', '/auth/me');
    const token = await forgotten(email);
    const elsewhere = await send('/auth/email/verify', { token });
    assert.deepEqual([elsewhere.status, elsewhere.json.code], [403, 'LINK_INVALID']);
    api.domain.clock.pass(HOUR_MS);
    assert.equal((await send('/auth/reset', { token, password: NEW_PASSWORD })).status, 403);
    assert.equal(await signsIn(email, PASSWORD), true);
  });

  it('responds alike for every address', async () => {
    const known = newEmail();
    await signUp(api.url, known);
    const responses = [
      await send('/auth/forgot', { email: known }),
      await send('/auth/forgot', { email: newEmail() }),
    ];
    const [first, second] = responses.map(({ status, json }) => ({ status, json }));
    assert.deepEqual(first, second);
  });

  it('accepts requests only from pages of the public origin', async () => {
    const email = newEmail();
    for (const [path, body] of [
      ['/auth/forgot', { email }],
      ['/auth/reset', { token: 'x'.repeat(43), password: NEW_PASSWORD }],
      ['/auth/email/verify', { token: 'x'.repeat(43) }],
    ] as const) {
      const forged = await callApi(api.url, 'POST', path, body, { origin: 'https://evil.example' });
      assert.deepEqual([forged.status, forged.json.code], [403, 'ORIGIN_NOT_ALLOWED']);
    }
  });
});
