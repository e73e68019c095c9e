import assert from 'node:assert/strict';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { cookieOf, openBrowser } from '../../support/browser.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';
import { actingFor, newMember } from './support/member.ts';

describe('Members of an account', () => {
  let api: TestApi;

  before(async () => {
    api = await openApi();
  });
  after(() => api.close());

  async function newOwner() {
    const email = newEmail();
    const client = await signUp(api.url, email);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'business');
    return { email, client, accountId };
  }

  it('act for it and not for their own account, and the log and the list of keys name them', async () => {
    const owner = await newOwner();
    const { client, email, personId } = await newMember(api, owner.accountId, 'developer');
    const me = await client.expect(200, 'GET', '/auth/me');
    assert.deepEqual(
      [me.id, me.personId, me.email, me.role, me.ownerEmail, me.plan],
      [owner.accountId, personId, email, 'developer', owner.email, 'business'],
    );
    const { id } = await client.expect(201, 'POST', '/user/api-keys', {
      name: 'of the member',
      mode: 'test',
    });
    await owner.client.expect(201, 'POST', '/user/api-keys', { name: 'of the owner', mode: 'test' });
    const { keys } = await owner.client.expect(200, 'GET', '/user/api-keys?sort=created_asc');
    assert.deepEqual(
      keys.map(({ name, createdBy }: { name: string; createdBy: string }) => [name, createdBy]),
      [
        ['of the member', email],
        ['of the owner', owner.email],
      ],
    );
    const { entries } = await owner.client.expect(200, 'GET', '/user/audit-log?action=key.created');
    assert.deepEqual(
      entries.map((entry: { person: string; targetId: string }) => entry.person),
      [owner.email, email],
    );
    assert.equal(entries[1].targetId, id);
    const own = await actingFor(api, personId, personId);
    assert.equal((await own.expect(200, 'GET', '/user/api-keys')).total, 0);
  });

  it('switch between their accounts in a browser, whose sign-in stays as old as it is', async () => {
    const owner = await newOwner();
    const { personId, email } = await newMember(api, owner.accountId, 'viewer');
    const browser = await openBrowser(api.url, email);
    const { accounts } = await browser.expect(200, 'GET', '/auth/accounts');
    assert.deepEqual(
      accounts.map(({ id, role, current }: { id: string; role: string; current: boolean }) => [
        id,
        role,
        current,
      ]),
      [
        [personId, 'owner', true],
        [owner.accountId, 'viewer', false],
      ],
    );
    const tokens = api.domain.connection.collection<{ accountId: string; createdAt: Date }>('access_tokens');
    const open = { accountId: personId, revoked: false, session: { $exists: true } };
    const before = await tokens.findOne(open);
    const old = browser.cookie;
    const reply = await browser.call('PATCH', '/auth/session', { accountId: owner.accountId });
    const { account } = reply.json;
    assert.deepEqual([reply.status, account.id, account.role], [200, owner.accountId, 'viewer']);
    browser.cookie = cookieOf(reply);
    assert.equal((await browser.call('GET', '/auth/me', undefined, { cookie: old })).status, 401);
    const sessions = await tokens.find(open).toArray();
    assert.deepEqual(
      sessions.map(({ createdAt }) => createdAt),
      [before?.createdAt],
    );
    assert.equal((await browser.expect(200, 'GET', '/auth/me')).id, owner.accountId);
    // The next sign-in acts for the same account, an access token for the own one.
    const again = await openBrowser(api.url, email);
    assert.equal((await again.expect(200, 'GET', '/auth/me')).id, owner.accountId);
    const { accessToken } = await fetch(`${api.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    }).then((response) => response.json() as Promise<{ accessToken: string }>);
    const token = { authorization: `Bearer ${accessToken}` };
    const me = await fetch(`${api.url}/auth/me`, { headers: token });
    assert.equal(((await me.json()) as { id: string }).id, personId);
    const byToken = await callApi(api.url, 'PATCH', '/auth/session', { accountId: personId }, token);
    assert.deepEqual([byToken.status, byToken.json.code], [403, 'SESSION_REQUIRED']);
  });

  it('cannot switch to an account of others', async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const browser = await openBrowser(api.url, stranger.email);
    const { code } = await browser.expect(404, 'PATCH', '/auth/session', { accountId: owner.accountId });
    assert.equal(code, 'NOT_FOUND');
    const token = await actingFor(api, stranger.accountId, owner.accountId);
    assert.equal((await token.get('/auth/me')).status, 401);
  });

  it('are none any more once either account has been taken over', async () => {
    for (const taken of ['account', 'person'] as const) {
      const owner = await newOwner();
      const { client, personId } = await newMember(api, owner.accountId, 'developer');
      await client.expect(200, 'GET', '/user/renders');
      const id = taken === 'account' ? owner.accountId : personId;
      await api.tenants.takeover.takeOver((await api.accounts.findNow(id))!, PASSWORD, { actor: 'account' });
      assert.equal((await client.get('/user/renders')).status, 401, taken);
      const fresh = await api.accounts.findNow(personId);
      const { token } = await api.tenants.tokens.issue(
        personId,
        undefined,
        fresh?.ownerFence,
        owner.accountId,
      );
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await fetch(`${api.url}/auth/me`, { headers })).status, 401, taken);
    }
  });
});
