import assert from 'node:assert/strict';
import { type AccountClient, newEmail, signUp } from '../../../support/account-client.ts';
import { type Browser, openBrowser } from '../../../support/browser.ts';
import type { Reply } from '../../../support/send.ts';
import { callApi, type TestApi } from '../../http/support/api.ts';

/** Somebody who has registered an address, and what gives that person access to the account. */
export class FirstPerson {
  readonly #api: TestApi;
  readonly email: string;
  readonly accountId: string;
  readonly client: AccountClient;
  readonly browser: Browser;
  readonly liveKey: string;
  readonly testKey: string;

  private constructor(
    api: TestApi,
    client: AccountClient,
    browser: Browser,
    known: { accountId: string; liveKey: string; testKey: string },
  ) {
    this.#api = api;
    this.email = browser.email;
    this.accountId = known.accountId;
    this.client = client;
    this.browser = browser;
    this.liveKey = known.liveKey;
    this.testKey = known.testKey;
  }

  /** Registers an address on a plan with callbacks; it is confirmed by nobody. */
  static async register(api: TestApi, email = newEmail()): Promise<FirstPerson> {
    const client = await signUp(api.url, email);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'professional');
    const browser = await openBrowser(api.url, email);
    const keyOf = async (mode: string) =>
      (await client.expect(201, 'POST', '/user/api-keys', { name: mode, mode })).apiKey;
    const keys = { liveKey: await keyOf('live'), testKey: await keyOf('test') };
    return new FirstPerson(api, client, browser, { accountId, ...keys });
  }

  call(method: string, path: string, body?: unknown, key = this.liveKey): Promise<Reply> {
    return callApi(this.#api.url, method, path, body, { 'x-api-key': key });
  }

  /** Nothing that this person has ever had gives access. */
  async assertEnded(): Promise<void> {
    for (const key of [this.liveKey, this.testKey])
      for (const [method, path, body] of [
        ['GET', '/v1/pdf/jobs', undefined],
        ['POST', '/v1/pdf', { html: '<p>on the account of somebody else' }],
      ] as const)
        assert.equal((await this.call(method, path, body, key)).status, 401, path);
    assert.equal((await this.client.get('/user/usage')).status, 401);
    assert.equal((await this.browser.call('GET', '/auth/me')).status, 401);
  }

  /** Everything still does. */
  async assertGoesOn(): Promise<void> {
    for (const key of [this.liveKey, this.testKey])
      assert.equal((await this.call('GET', '/v1/pdf/jobs', undefined, key)).status, 200);
    await this.client.expect(200, 'GET', '/user/usage');
    await this.browser.expect(200, 'GET', '/auth/me');
  }
}
