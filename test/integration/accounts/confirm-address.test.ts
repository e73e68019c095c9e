import assert from 'node:assert/strict';
import { newEmail, PASSWORD } from '../../support/account-client.ts';
import { openBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { useApi } from '../http/support/api.ts';
import { FirstPerson } from './support/first-person.ts';
import { forgotten, linkTo, mailsTo, sendAsPage } from './support/mailed-links.ts';

const NEW_PASSWORD = 'quite another battery, and staple';
const DAY_MS = 24 * 3_600_000;

describe('The link that confirms the address of an account', () => {
  const api = useApi({ trustedProxies: 1 });

  /** Somebody has registered an address, and a link is mailed to it. */
  async function registered() {
    const first = await FirstPerson.register(api);
    await first.browser.expect(202, 'POST', '/auth/email/verification');
    return { first, token: await linkTo(api, first.email, 'email-verification') };
  }
  const isConfirmed = async (email: string) =>
    (await api.accounts.findByEmail(email))?.emailVerifiedAt !== undefined;
  const verify = (body: unknown) => sendAsPage(api, '/auth/email/verify', body);

  it('confirms it, once, in a browser that is signed in to the account, and keeps what the account has', async () => {
    const { first, token } = await registered();
    assert.equal(await isConfirmed(first.email), false);
    await first.browser.expect(200, 'POST', '/auth/email/verify', { token });
    assert.equal(await isConfirmed(first.email), true);
    await eventually('its owner sees so', async () => {
      return (await first.browser.expect(200, 'GET', '/auth/me')).emailConfirmed;
    });
    await first.assertGoesOn();
    const again = await first.browser.call('POST', '/auth/email/verify', { token });
    assert.deepEqual([again.status, again.json.code], [403, 'LINK_INVALID']);
    const log = await first.client.expect(200, 'GET', '/user/audit-log?action=account.address_confirmed');
    assert.equal(log.total, 1);
  });

  it('confirms it with the password, in any browser', async () => {
    const { first, token } = await registered();
    const wrong = await verify({ token, password: 'not this one' });
    assert.deepEqual([wrong.status, wrong.json.code], [403, 'WRONG_PASSWORD']);
    assert.equal(await isConfirmed(first.email), false);
    assert.equal((await verify({ token, password: PASSWORD })).status, 200);
    assert.equal(await isConfirmed(first.email), true);
    await first.assertGoesOn();
  });

  it('bounds the passwords that are tried with it', async () => {
    const { token } = await registered();
    const header = { 'x-forwarded-for': '192.0.2.77' };
    const browser = await openBrowser(api.url);
    const attempt = (password: string) =>
      browser.call(
        'POST',
        '/auth/email/verify',
        { token, password },
        { ...header, 'sec-fetch-site': 'same-origin' },
      );
    for (let i = 0; i < 10; i += 1) assert.equal((await attempt(`wrong password ${i}`)).status, 403);
    const { status, json } = await attempt(PASSWORD);
    assert.deepEqual([status, json.code], [429, 'TOO_MANY_FAILURES']);
  });

  it('confirms nothing alone: whoever presses it has not made the account', async () => {
    const { first, token } = await registered();
    const stranger = await openBrowser(api.url);
    for (const press of [
      () => verify({ token }),
      () => stranger.call('POST', '/auth/email/verify', { token }),
    ]) {
      const { status, json } = await press();
      assert.deepEqual([status, json.code], [403, 'CONFIRMATION_UNPROVEN']);
      assert.match(json.message, /^The account was made on \d{4}-\d\d-\d\d and has 2 active API keys\./);
    }
    assert.equal(await isConfirmed(first.email), false);
    await first.assertGoesOn();
    assert.equal((await verify({ token, password: PASSWORD })).status, 200, 'the link can still be used');
  });

  it('gives the account to whoever has not made it, with a new password, and ends what it has', async () => {
    const { first, token } = await registered();
    const neighbour = await FirstPerson.register(api);
    assert.equal((await verify({ token, newPassword: NEW_PASSWORD })).status, 200);
    assert.equal(await isConfirmed(first.email), true);
    await first.assertEnded();
    await neighbour.assertGoesOn();
    const login = (password: string) => sendAsPage(api, '/auth/login', { email: first.email, password });
    assert.equal((await login(PASSWORD)).status, 401);
    assert.equal((await login(NEW_PASSWORD)).status, 200);
    assert.deepEqual(await mailsTo(api, first.email, 'account-taken-over'), [{ apiKeys: 2 }]);
    assert.equal((await verify({ token, newPassword: PASSWORD })).status, 403);
  });

  it('takes over no account whose address is confirmed', async () => {
    const { first, token } = await registered();
    await first.browser.expect(202, 'POST', '/auth/email/verification');
    const other = await linkTo(api, first.email, 'email-verification');
    await first.browser.expect(200, 'POST', '/auth/email/verify', { token });
    const { status, json } = await verify({ token: other, newPassword: NEW_PASSWORD });
    assert.deepEqual([status, json.code], [403, 'LINK_INVALID']);
    await first.assertGoesOn();
    assert.equal((await verify({ token: other })).status, 200, 'there is nothing left to confirm');
  });

  it('takes one password', async () => {
    const { token } = await registered();
    assert.equal((await verify({ token, password: PASSWORD, newPassword: NEW_PASSWORD })).status, 400);
  });

  it('ends with its day, with a takeover, and for another purpose', async () => {
    const { first, token } = await registered();
    const reset = await forgotten(api, first.email);
    for (const [path, body] of [
      ['/auth/email/verify', { token: reset, password: PASSWORD }],
      ['/auth/reset', { token, password: NEW_PASSWORD }],
    ] as const)
      assert.equal((await sendAsPage(api, path, body)).json.code, 'LINK_INVALID');
    assert.equal(
      (await sendAsPage(api, '/auth/reset', { token: reset, password: NEW_PASSWORD })).status,
      200,
    );
    assert.equal((await verify({ token, password: NEW_PASSWORD })).json.code, 'LINK_INVALID');
    const { token: late } = await registered();
    api.domain.clock.pass(DAY_MS);
    assert.equal((await verify({ token: late, password: PASSWORD })).json.code, 'LINK_INVALID');
    api.domain.clock.pass(-DAY_MS);
  });

  it('is not sent to a new account where live keys need no confirmed address', async () => {
    const first = await FirstPerson.register(api);
    assert.deepEqual(await mailsTo(api, first.email, 'email-verification'), []);
    assert.equal((await first.client.expect(200, 'GET', '/auth/me')).confirmationNeeded, false);
  });
});

describe('Where live keys need a confirmed address', () => {
  const api = useApi({ trustedProxies: 1, confirmAddress: 'required' });

  const rejected = { status: 403, code: 'ADDRESS_NOT_CONFIRMED' };
  const of = ({ status, json }: { status: number; json: { code?: string; remedy?: string } }) => {
    assert.match(json.remedy!, /POST \/auth\/email\/verification/);
    return { status, code: json.code };
  };
  const live = { html: '<p>x</p>', mode: 'live' };

  it('a new account is sent the link, and has test keys until then', async () => {
    const browser = await openBrowser(api.url);
    const me = await browser.expect(200, 'GET', '/auth/me');
    assert.deepEqual([me.emailConfirmed, me.confirmationNeeded], [false, true]);
    assert.deepEqual(of(await browser.call('POST', '/user/api-keys', { name: 'a', mode: 'live' })), rejected);
    assert.deepEqual(of(await browser.call('POST', '/user/renders', live)), rejected);
    const key = await browser.expect(201, 'POST', '/user/api-keys', { name: 'a', mode: 'test' });
    await browser.expect(200, 'POST', `/user/api-keys/${key.id}/rotate`);
    await browser.expect(202, 'POST', '/user/renders', { ...live, mode: 'test' });
    const mails = await mailsTo(api, browser.email, 'email-verification');
    assert.equal(mails.length, 1);
    const token = await linkTo(api, browser.email, 'email-verification');
    await browser.expect(200, 'POST', '/auth/email/verify', { token });
    await browser.expect(201, 'POST', '/user/api-keys', { name: 'b', mode: 'live' });
    await browser.expect(202, 'POST', '/user/renders', live);
    assert.equal((await browser.expect(200, 'GET', '/auth/me')).confirmationNeeded, false);
  });

  it('an older account keeps its live keys, and gets no others', async () => {
    const browser = await openBrowser(api.url);
    const { id: accountId } = await browser.expect(200, 'GET', '/auth/me');
    const fields = { name: 'older', mode: 'live', allowedIps: [] } as const;
    const { key, secret } = await api.keys.create(accountId, fields);
    const rotated = await browser.call('POST', `/user/api-keys/${key._id}/rotate`);
    assert.deepEqual(of(rotated), rejected);
    const jobs = await fetch(`${api.url}/v1/pdf/jobs`, { headers: { 'x-api-key': secret } });
    assert.equal(jobs.status, 200);
  });

  it('accounts that the operator has made or reset need none', async () => {
    const email = newEmail();
    const { accountService, takeover } = api.tenants;
    await accountService.create({ email, password: PASSWORD, plan: 'free' }, { actor: 'operator' });
    const browser = await openBrowser(api.url, email);
    await browser.expect(201, 'POST', '/user/api-keys', { name: 'a', mode: 'live' });
    assert.deepEqual(await mailsTo(api, email, 'email-verification'), []);
    const registered = await openBrowser(api.url);
    const account = await api.accounts.findByEmail(registered.email);
    await takeover.begin(account!, PASSWORD, { actor: 'operator' });
    const theirs = await openBrowser(api.url, registered.email);
    await theirs.expect(201, 'POST', '/user/api-keys', { name: 'a', mode: 'live' });
  });

  it('work of live keys is not repeated without a key', async () => {
    const browser = await openBrowser(api.url);
    const { id: accountId } = await browser.expect(200, 'GET', '/auth/me');
    const { secret } = await api.keys.create(accountId, { name: 'k', mode: 'live', allowedIps: [] });
    const submitted = await fetch(`${api.url}/v1/pdf`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify({ html: '<p>x</p>', executionMode: 'async' }),
    });
    const { jobId } = (await submitted.json()) as { jobId: string };
    assert.deepEqual(of(await browser.call('POST', `/user/renders/${jobId}/retry`)), rejected);
  });
});
