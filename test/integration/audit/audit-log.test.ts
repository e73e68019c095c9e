import assert from 'node:assert/strict';
import { AccountClient, newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

describe('the audit log', () => {
  let api: TestApi;

  before(async () => {
    api = await openApi({ trustedProxies: 1 });
  });
  after(() => api.close());

  const login = (email: string, password: string) =>
    callApi(api.url, 'POST', '/auth/login', { email, password }, { 'x-forwarded-for': '192.0.2.7' });

  it('names every action of an account, its actor, address, time and target', async () => {
    const email = newEmail();
    await signUp(api.url, email);
    await login(email, 'wrong password');
    const client = new AccountClient(api.url, (await login(email, PASSWORD)).json.accessToken);
    const key = await client.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    const rotated = await client.expect(200, 'POST', `/user/api-keys/${key.id}/rotate`);
    await client.expect(200, 'DELETE', `/user/api-keys/${rotated.id}`);
    await client.expect(200, 'DELETE', `/user/api-keys/${rotated.id}`);
    const template = await client.expect(201, 'POST', '/user/templates', { name: 'x', content: 'x' });
    await client.expect(200, 'DELETE', `/user/templates/${template.id}`);

    const log = await client.expect(200, 'GET', '/user/audit-log?sort=created_asc');
    assert.deepEqual(
      log.entries.map(({ action, actor, targetId }: Record<string, string>) => [action, actor, targetId]),
      [
        ['account.registered', 'account', null],
        ['account.sign_in_failed', 'anonymous', null],
        ['account.signed_in', 'account', null],
        ['key.created', 'account', key.id],
        ['key.rotated', 'account', rotated.id],
        ['key.revoked', 'account', rotated.id],
        ['template.saved', 'account', template.id],
        ['template.deleted', 'account', template.id],
      ],
    );
    assert.equal(log.total, 8);
    assert.equal(log.entries[1].ipAddress, '192.0.2.7');
    assert.equal(log.entries[4].details.replaced, key.id);
    assert.ok(log.entries.every(({ createdAt }: { createdAt: string }) => Date.parse(createdAt) > 0));
    assert.ok(!JSON.stringify(log).includes(key.apiKey));

    const page = await client.expect(200, 'GET', '/user/audit-log?limit=2&offset=1');
    assert.deepEqual(
      page.entries.map(({ action }: { action: string }) => action),
      ['template.saved', 'key.revoked'],
    );
    const failed = await client.expect(200, 'GET', '/user/audit-log?action=account.sign_in_failed');
    assert.equal(failed.total, 1);
    assert.equal((await client.get('/user/audit-log?action=x')).status, 400);
  });

  it('says which version a template was saved in, and which one it was rolled back to', async () => {
    const client = await signUp(api.url);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'professional');
    const first = await client.expect(201, 'POST', '/user/templates', { name: 'x', content: 'x' });
    const path = `/user/templates/${first.id}`;
    const second = await client.expect(200, 'PATCH', path, { content: 'y' });
    const third = await client.expect(200, 'POST', `${path}/versions/${first.versionId}/rollback`);
    const { entries } = await client.expect(200, 'GET', '/user/audit-log?action=template.saved');
    assert.deepEqual(
      entries.map(({ details }: { details: object }) => details),
      [
        { versionId: third.versionId, version: '3', rolledBackTo: first.versionId },
        { versionId: second.versionId, version: '2' },
        { versionId: first.versionId, version: '1' },
      ],
    );
  });

  it('is shown to its own account alone', async () => {
    await signUp(api.url);
    const client = await signUp(api.url);
    const { total } = await client.expect(200, 'GET', '/user/audit-log');
    assert.equal(total, 1);
    assert.equal((await callApi(api.url, 'GET', '/user/audit-log')).status, 401);
  });

  it('also notes failures for addresses without an account', async () => {
    const before = await count({ accountId: null });
    await login(newEmail(), 'wrong password');
    assert.equal(await count({ accountId: null }), before + 1);
  });

  it('forgets entries after 400 days', async () => {
    const now = api.domain.clock.now().getTime();
    const all = await count({});
    assert.equal(await api.accountServices.audit.deleteOld(new Date(now + 399 * 86_400_000)), 0);
    assert.equal(await api.accountServices.audit.deleteOld(new Date(now + 401 * 86_400_000)), all);
  });

  function count(filter: Record<string, unknown>): Promise<number> {
    return api.domain.connection.collection('audit_log').countDocuments(filter);
  }
});
