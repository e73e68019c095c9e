import assert from 'node:assert/strict';
import { codeOf, stepAt } from '../../../src/tenants/members/totp.ts';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { callApi, useApi } from '../http/support/api.ts';
import { newMember } from './support/member.ts';

describe('The second factor of a person', () => {
  const api = useApi({ trustedProxies: 1 });
  let lastAddress = 0;

  function signIn(email: string, code?: string, password = PASSWORD, path = '/auth/session') {
    const headers = { ...SAME_ORIGIN, 'x-forwarded-for': `198.51.${++lastAddress}.1` };
    return callApi(api.url, 'POST', path, { email, password, ...(code && { code }) }, headers);
  }

  /** A secret as apps have it. */
  function bytesOf(secret: string): Buffer {
    const bits = [...secret]
      .map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
      .join('');
    return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  }

  async function withApp(email = newEmail()) {
    await signUp(api.url, email);
    const browser = await openBrowser(api.url, email);
    const { secret, uri } = await browser.expect(201, 'POST', '/auth/second-factor');
    assert.ok(uri.includes(`secret=${secret}`));
    /** @param by steps from now. */
    const code = (by = 0) => codeOf(bytesOf(secret), stepAt(api.domain.clock.now()) + by);
    // The code of the step before, so that those of now and later are left for the test.
    const { recoveryCodes } = await browser.expect(200, 'POST', '/auth/second-factor/confirm', {
      code: code(-1),
    });
    return { email, browser, code, recoveryCodes: recoveryCodes as string[] };
  }

  it('is needed from its first code on, not before, and ends other sessions', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    const [browser, other] = [await openBrowser(api.url, email), await openBrowser(api.url, email)];
    await browser.expect(201, 'POST', '/auth/second-factor');
    assert.equal((await signIn(email)).status, 201);
    const wrong = await browser.call('POST', '/auth/second-factor/confirm', { code: '000000' });
    assert.equal(wrong.json.code, 'WRONG_CODE');
    const { secret } = await browser.expect(201, 'POST', '/auth/second-factor');
    const code = codeOf(bytesOf(secret), stepAt(api.domain.clock.now()));
    const { recoveryCodes } = await browser.expect(200, 'POST', '/auth/second-factor/confirm', { code });
    assert.equal(new Set(recoveryCodes).size, 10);
    assert.equal((await other.call('GET', '/auth/me')).status, 401);
    assert.equal((await browser.expect(200, 'GET', '/auth/me')).secondFactor, true);
    assert.equal((await browser.call('POST', '/auth/second-factor')).json.code, 'SECOND_FACTOR_SET');
    for (const path of ['/auth/session', '/auth/login'])
      assert.equal((await signIn(email, undefined, PASSWORD, path)).json.code, 'CODE_REQUIRED');
    const stored = JSON.stringify(
      await api.domain.connection.collection('second_factors').find({}).toArray(),
    );
    for (const recovery of recoveryCodes) assert.ok(!stored.includes(recovery.replace('-', '')));
  });

  it('accepts each code once, also when it is given twice at once', async () => {
    const { email, code } = await withApp();
    const now = code();
    const replies = await Promise.all([signIn(email, now), signIn(email, now)]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 403]);
    const again = await signIn(email, now);
    assert.deepEqual([again.status, again.json.code], [403, 'WRONG_CODE']);
    assert.equal((await signIn(email, code(1))).status, 201);
    // Of a step before the last one that was used.
    assert.equal((await signIn(email, now)).json.code, 'WRONG_CODE');
  });

  it('accepts each recovery code once, and none of the former ones once they are renewed', async () => {
    const { email, browser, recoveryCodes } = await withApp();
    assert.equal((await signIn(email, recoveryCodes[0]!.toLowerCase().replace('-', ' '))).status, 201);
    assert.equal((await signIn(email, recoveryCodes[0])).json.code, 'WRONG_CODE');
    assert.equal((await browser.expect(200, 'GET', '/auth/second-factor')).recoveryCodesLeft, 9);
    const renewed = await browser.expect(200, 'POST', '/auth/second-factor/recovery-codes');
    assert.equal((await signIn(email, recoveryCodes[1])).json.code, 'WRONG_CODE');
    assert.equal((await signIn(email, renewed.recoveryCodes[0])).status, 201);
  });

  it('is bounded in guesses, from all networks together, and says nothing to whoever has not the password', async () => {
    const { email, code } = await withApp();
    const codes: string[] = [];
    for (let i = 0; i < 12; i += 1) codes.push((await signIn(email, '000000')).json.code);
    assert.deepEqual([...new Set(codes)], ['WRONG_CODE', 'TOO_MANY_FAILURES']);
    assert.equal((await signIn(email, code())).json.code, 'TOO_MANY_FAILURES');
    assert.equal((await signIn(email, code(), 'not the password')).json.code, 'UNAUTHENTICATED');
    assert.equal((await signIn(email, undefined, 'not the password')).json.code, 'UNAUTHENTICATED');
  });

  it('is removed only right after a sign-in, and with the owner of the address that takes an account over', async () => {
    const { email, browser } = await withApp();
    const tokens = api.domain.connection.collection<{ createdAt: Date }>('access_tokens');
    const { id } = await browser.expect(200, 'GET', '/auth/me');
    await tokens.updateMany({ accountId: id }, { $set: { createdAt: new Date(Date.now() - 600_000) } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    for (const [method, path] of [
      ['DELETE', '/auth/second-factor'],
      ['POST', '/auth/second-factor/recovery-codes'],
    ] as const)
      assert.equal((await browser.call(method, path)).json.code, 'PASSWORD_REQUIRED');
    await tokens.updateMany({ accountId: id }, { $set: { createdAt: new Date() } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    await browser.expect(200, 'DELETE', '/auth/second-factor');
    assert.equal((await signIn(email)).status, 201);

    const taken = await withApp();
    const account = (await api.accounts.findByEmail(taken.email))!;
    await api.tenants.takeover.takeOver(account, PASSWORD, { actor: 'account' });
    assert.equal((await signIn(taken.email)).status, 201);
  });

  it('is required of all members where the owner wants it, and of none by an owner without one', async () => {
    const { browser: owner } = await withApp();
    const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
    const { client, email } = await newMember(api, accountId, 'developer');
    await client.expect(200, 'GET', '/user/renders');
    const { apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'x', mode: 'test' });
    await owner.expect(200, 'PUT', '/user/members/second-factor', { required: true });
    assert.equal((await client.call('GET', '/user/renders')).json.code, 'SECOND_FACTOR_REQUIRED');
    assert.equal((await client.expect(200, 'GET', '/auth/me')).secondFactorRequired, true);
    await owner.expect(200, 'GET', '/user/renders');
    const headers = { 'x-api-key': apiKey };
    assert.equal((await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, headers)).status, 200);

    const signedIn = await signIn(email);
    const browser = new Browser(api.url, email, cookieOf(signedIn));
    const { secret } = await browser.expect(201, 'POST', '/auth/second-factor');
    const code = codeOf(bytesOf(secret), stepAt(api.domain.clock.now()));
    await browser.expect(200, 'POST', '/auth/second-factor/confirm', { code });
    browser.cookie = cookieOf(await browser.call('PATCH', '/auth/session', { accountId }));
    await browser.expect(200, 'GET', '/user/renders');

    const bare = await openBrowser(api.url);
    const refused = await bare.call('PUT', '/user/members/second-factor', { required: true });
    assert.equal(refused.json.code, 'SECOND_FACTOR_REQUIRED');
  });
});
