import assert from 'node:assert/strict';
import {
  AuthenticatorEmulator,
  PasskeysCredentialsMemoryRepository,
  WebAuthnEmulator,
} from 'nid-webauthn-emulator';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { callApi, useApi } from '../http/support/api.ts';
import { newMember } from './support/member.ts';

const ORIGIN = 'https://pdf.example.com';

/** A device with passkeys, of another maker than what checks them. */
class Device {
  readonly authenticator: AuthenticatorEmulator;
  readonly #emulator: WebAuthnEmulator;

  constructor(settings: ConstructorParameters<typeof AuthenticatorEmulator>[0] = {}) {
    const credentialsRepository = new PasskeysCredentialsMemoryRepository();
    this.authenticator = new AuthenticatorEmulator({ credentialsRepository, ...settings });
    this.#emulator = new WebAuthnEmulator(this.authenticator);
  }

  /** @param origin of the page that asks. */
  make(options: Parameters<WebAuthnEmulator['createJSON']>[1], origin = ORIGIN) {
    const { id, response } = this.#emulator.createJSON(origin, options);
    const { clientDataJSON, attestationObject } = response;
    return { id, clientDataJSON, attestationObject };
  }

  sign(options: Parameters<WebAuthnEmulator['getJSON']>[1], origin = ORIGIN) {
    const { id, response } = this.#emulator.getJSON(origin, options);
    const { clientDataJSON, authenticatorData, signature, userHandle } = response;
    return { id, clientDataJSON, authenticatorData, signature, userHandle };
  }
}

type Assertion = ReturnType<Device['sign']>;

describe('The passkeys of a person', () => {
  const api = useApi({ trustedProxies: 1 });
  let lastAddress = 0;

  before(() => {
    // Passkeys are made for a name.
    api.core.address.publicUrl = ORIGIN;
  });

  const headers = () => ({ ...SAME_ORIGIN, 'x-forwarded-for': `198.51.${++lastAddress}.1` });
  const challenge = async () =>
    (await callApi(api.url, 'POST', '/auth/passkeys/challenge', undefined, headers())).json;
  const post = (body: unknown) => callApi(api.url, 'POST', '/auth/session', body, headers());

  async function refused(body: { passkey: Assertion }): Promise<void> {
    const { status, json } = await post(body);
    assert.deepEqual([status, json.code], [403, 'PASSKEY_REFUSED']);
  }

  /** Makes a passkey of the person of a browser on a device. */
  async function addPasskey(browser: Browser, device: Device) {
    const { options } = await browser.expect(201, 'POST', '/auth/passkeys/registration');
    const body = { name: 'Laptop', credential: device.make(options) };
    return browser.expect(201, 'POST', '/auth/passkeys', body);
  }

  /** A person with a passkey on a device. */
  async function withPasskey(device = new Device()) {
    const browser = await openBrowser(api.url);
    const { passkey } = await addPasskey(browser, device);
    const { personId } = await browser.expect(200, 'GET', '/auth/me');
    return { device, email: browser.email, browser, personId, passkey };
  }

  it('sign the person in without address and password, as with a second factor', async () => {
    const { device, email, browser, personId, passkey } = await withPasskey();
    assert.deepEqual([passkey.name, passkey.lastUsedAt], ['Laptop', null]);
    const signedIn = await post({ passkey: device.sign(await challenge()) });
    assert.equal(signedIn.status, 201);
    const { account } = signedIn.json;
    assert.deepEqual([account.personId, account.email, account.secondFactor], [personId, email, true]);
    const { passkeys } = await browser.expect(200, 'GET', '/auth/passkeys');
    assert.equal(passkeys.length, 1);
    assert.notEqual(passkeys[0].lastUsedAt, null);
    const { entries } = await browser.expect(200, 'GET', '/user/audit-log');
    const actions = entries.map(({ action }: { action: string }) => action);
    assert.ok(actions.includes('passkey.added'));
  });

  it('are a second factor besides the password, with recovery codes for a lost device', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    const [browser, other] = [await openBrowser(api.url, email), await openBrowser(api.url, email)];
    const device = new Device();
    const { recoveryCodes } = await addPasskey(browser, device);
    assert.equal(new Set(recoveryCodes).size, 10);
    assert.equal((await other.call('GET', '/auth/me')).status, 401, 'the first factor ends other sessions');
    assert.equal((await browser.expect(200, 'GET', '/auth/me')).secondFactor, true);
    const credentials = { email, password: PASSWORD };
    assert.equal((await post(credentials)).json.code, 'CODE_REQUIRED');
    const passkey = device.sign(await challenge());
    const wrong = await post({ ...credentials, password: 'not the password', passkey });
    assert.equal(wrong.json.code, 'UNAUTHENTICATED');
    assert.equal((await post({ ...credentials, passkey })).json.account.secondFactor, true);
    assert.equal((await post({ ...credentials, passkey })).json.code, 'PASSKEY_REFUSED');
    assert.equal((await post({ ...credentials, code: '000000' })).json.code, 'WRONG_CODE');
    assert.equal((await post({ ...credentials, code: recoveryCodes[0] })).status, 201);
    assert.equal((await post({ ...credentials, code: recoveryCodes[0] })).json.code, 'WRONG_CODE');
    const renewed = await browser.expect(200, 'POST', '/auth/second-factor/recovery-codes');
    assert.equal((await post({ ...credentials, code: recoveryCodes[1] })).json.code, 'WRONG_CODE');
    assert.equal((await post({ ...credentials, code: renewed.recoveryCodes[0] })).status, 201);
  });

  it('are refused for a signature of another origin, a replayed one, and one of nobody’s challenge', async () => {
    const { device } = await withPasskey();
    const options = await challenge();
    await refused({ passkey: device.sign(options, 'https://evil.pdf.example.com') });
    const passkey = device.sign(await challenge());
    assert.equal((await post({ passkey })).status, 201);
    await refused({ passkey });
    await refused({ passkey: device.sign({ ...(await challenge()), challenge: 'x'.repeat(43) }) });
    const late = device.sign(await challenge());
    api.domain.clock.pass(5 * 60_000 + 1);
    await refused({ passkey: late });
  });

  it('take one of two concurrent replays', async () => {
    const { device } = await withPasskey();
    const passkey = device.sign(await challenge());
    const replies = await Promise.all([post({ passkey }), post({ passkey }), post({ passkey })]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 403, 403]);
  });

  it('are refused for another person, and with what another passkey has signed', async () => {
    const [ada, bob] = [await withPasskey(), await withPasskey()];
    const passkey = bob.device.sign(await challenge());
    const mixed = await post({ email: ada.email, password: PASSWORD, passkey });
    assert.equal(mixed.json.code, 'PASSKEY_REFUSED');
    const ofAda = ada.device.sign(await challenge());
    await refused({ passkey: { ...bob.device.sign(await challenge()), id: ofAda.id } });
    const { userHandle } = bob.device.sign(await challenge());
    await refused({ passkey: { ...ada.device.sign(await challenge()), userHandle } });
    const { options } = await ada.browser.expect(201, 'POST', '/auth/passkeys/registration');
    const body = { name: 'x', credential: new Device().make(options) };
    const stolen = await bob.browser.call('POST', '/auth/passkeys', body);
    assert.equal(stolen.json.code, 'PASSKEY_REFUSED', 'a challenge is for the session that asked for it');
    for (const [method, change] of [
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const) {
      const path = `/auth/passkeys/${ada.passkey.id}`;
      assert.equal((await bob.browser.call(method, path, change)).status, 404);
    }
  });

  it('are refused once their counter is not higher than before: there is a copy', async () => {
    const device = new Device({ signCounterIncrement: 5 });
    const { personId } = await withPasskey(device);
    assert.equal((await post({ passkey: device.sign(await challenge()) })).status, 201);
    const stored = api.domain.connection.collection<{ accountId: string; counter: number }>('passkeys');
    const { counter } = (await stored.findOne({ accountId: personId }))!;
    assert.ok(counter >= 5);
    await stored.updateOne({ accountId: personId }, { $set: { counter: counter + 100 } });
    await refused({ passkey: device.sign(await challenge()) });
  });

  it('are refused where the device has not verified who uses it', async () => {
    const unverified = () => ({ options: { up: true, uv: false } });
    const browser = await openBrowser(api.url);
    const { options } = await browser.expect(201, 'POST', '/auth/passkeys/registration');
    const careless = new Device({ userMakeCredentialInteraction: unverified });
    const body = { name: 'x', credential: careless.make(options) };
    assert.equal((await browser.call('POST', '/auth/passkeys', body)).json.code, 'PASSKEY_REFUSED');
    const { device, email } = await withPasskey(new Device({ userGetAssertionInteraction: unverified }));
    await refused({ passkey: device.sign(await challenge()) });
    const besides = { email, password: PASSWORD, passkey: device.sign(await challenge()) };
    assert.equal((await post(besides)).json.code, 'PASSKEY_REFUSED');
  });

  it('are refused once they are removed, and end with the owner of the address who takes the account over', async () => {
    const { device, email, browser, passkey } = await withPasskey();
    const signedIn = await post({ passkey: device.sign(await challenge()) });
    const other = new Browser(api.url, email, cookieOf(signedIn));
    await browser.expect(200, 'PATCH', `/auth/passkeys/${passkey.id}`, { name: 'Old laptop' });
    assert.equal((await browser.expect(200, 'GET', '/auth/passkeys')).passkeys[0].name, 'Old laptop');
    await browser.expect(200, 'DELETE', `/auth/passkeys/${passkey.id}`);
    assert.equal((await other.call('GET', '/auth/me')).status, 401);
    await refused({ passkey: device.sign(await challenge()) });
    assert.equal((await post({ email, password: PASSWORD })).status, 201, 'the last factor is gone');
    assert.equal((await browser.expect(200, 'GET', '/auth/second-factor')).recoveryCodesLeft, 0);

    const taken = await withPasskey();
    const account = (await api.accounts.findByEmail(taken.email))!;
    await api.tenants.takeover.takeOver(account, PASSWORD, { actor: 'account' });
    await refused({ passkey: taken.device.sign(await challenge()) });
    assert.equal((await post({ email: taken.email, password: PASSWORD })).status, 201);
  });

  it('are made only right after a sign-in, and no more than a person may have', async () => {
    const { browser, personId, passkey } = await withPasskey();
    const stored = api.domain.connection.collection<{ _id: string }>('passkeys');
    const one = (await stored.findOne({ accountId: personId }))!;
    const { options } = await browser.expect(201, 'POST', '/auth/passkeys/registration');
    assert.deepEqual(
      options.excludeCredentials.map(({ id }: { id: string }) => id),
      [(one as unknown as { credentialId: string }).credentialId],
    );
    await stored.insertMany(Array.from({ length: 19 }, (_, i) => ({ ...one, _id: `${personId}${i}` })));
    const body = { name: 'x', credential: new Device().make(options) };
    assert.equal((await browser.call('POST', '/auth/passkeys', body)).json.code, 'PASSKEY_CAPACITY');
    const full = await browser.call('POST', '/auth/passkeys/registration');
    assert.equal(full.json.code, 'PASSKEY_CAPACITY');
    const tokens = api.domain.connection.collection<{ createdAt: Date }>('access_tokens');
    const before = new Date(api.domain.clock.now().getTime() - 600_000);
    await tokens.updateMany({ accountId: personId }, { $set: { createdAt: before } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    for (const [method, path] of [
      ['POST', '/auth/passkeys/registration'],
      ['DELETE', `/auth/passkeys/${passkey.id}`],
    ] as const)
      assert.equal((await browser.call(method, path)).json.code, 'PASSWORD_REQUIRED');
  });

  it('satisfy an account that requires a second factor, as its owner and as a member', async () => {
    const { browser: owner } = await withPasskey();
    await owner.expect(200, 'PUT', '/user/members/second-factor', { required: true });
    await owner.expect(200, 'GET', '/user/renders');
    const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
    const { email } = await newMember(api, accountId, 'developer');
    const browser = await openBrowser(api.url, email);
    browser.cookie = cookieOf(await browser.call('PATCH', '/auth/session', { accountId }));
    assert.equal((await browser.call('GET', '/user/renders')).json.code, 'SECOND_FACTOR_REQUIRED');
    const device = new Device();
    await addPasskey(browser, device);
    await browser.expect(200, 'GET', '/user/renders');
    const signedIn = await post({ passkey: device.sign(await challenge()) });
    assert.equal(signedIn.json.account.id, accountId);
    await new Browser(api.url, email, cookieOf(signedIn)).expect(200, 'GET', '/user/renders');
  });

  it('stay when the app is removed, and the app when they are', async () => {
    const { browser, email, passkey } = await withPasskey();
    await browser.expect(201, 'POST', '/auth/second-factor');
    assert.equal((await browser.expect(200, 'GET', '/auth/second-factor')).recoveryCodesLeft, 10);
    assert.equal((await browser.call('DELETE', '/auth/second-factor')).status, 404, 'it was not confirmed');
    assert.equal((await post({ email, password: PASSWORD })).json.code, 'CODE_REQUIRED');
    await browser.expect(200, 'DELETE', `/auth/passkeys/${passkey.id}`);
    assert.equal((await post({ email, password: PASSWORD })).status, 201);
  });

  it('are begun a bounded number of times from one network', async () => {
    const from = { ...SAME_ORIGIN, 'x-forwarded-for': '203.0.113.7' };
    const bound = api.core.config.PLATEN_SIGN_IN_FAILURES_PER_ADDRESS;
    const statuses: number[] = [];
    for (let i = 0; i < bound + 2; i += 1)
      statuses.push((await callApi(api.url, 'POST', '/auth/passkeys/challenge', undefined, from)).status);
    assert.deepEqual([statuses.filter((status) => status === 201).length, statuses.at(-1)], [bound, 429]);
  });
});
