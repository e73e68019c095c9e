import assert from 'node:assert/strict';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { type AuditAction, type AuditActor, AuditLog } from '../../../src/tenants/audit/audit-log.ts';
import { AccountClient, newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { callApi, useApi } from '../http/support/api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('The audit log', () => {
  const api = useApi({ trustedProxies: 1 });

  before(() => {
    // Well inside a day (UTC), by which entries are counted, so that none ends during a test.
    const { clock } = api.domain;
    clock.pass(DAY_MS + HOUR_MS - (clock.now().getTime() % DAY_MS));
  });

  const login = (email: string, password: string) =>
    callApi(api.url, 'POST', '/auth/login', { email, password }, { 'x-forwarded-for': '192.0.2.7' });

  it('has every action of an account with its actor, address, time and target', async () => {
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
    // Whoever reads it knows each by its name, also once it is gone.
    for (const { action, details } of log.entries.slice(3))
      assert.equal(details.name, action.startsWith('key.') ? 'key' : 'x', action);
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

  it('names the version of a saved template, and the version of a roll-back', async () => {
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
        {
          ...{ name: 'x', versionId: third.versionId, version: '3', message: 'Roll back to version 1' },
          ...{ rolledBackTo: first.versionId, rolledBackToVersion: '1' },
        },
        { name: 'x', versionId: second.versionId, version: '2' },
        { name: 'x', versionId: first.versionId, version: '1' },
      ],
    );
  });

  it('is visible only to its own account', async () => {
    await signUp(api.url);
    const client = await signUp(api.url);
    const { total } = await client.expect(200, 'GET', '/user/audit-log');
    assert.equal(total, 1);
    assert.equal((await callApi(api.url, 'GET', '/user/audit-log')).status, 401);
  });

  it('has failures for addresses without an account', async () => {
    const before = await count({ accountId: null });
    await login(newEmail(), 'wrong password');
    assert.equal(await count({ accountId: null }), before + 1);
  });

  describe('when one action exceeds its bound in a day', () => {
    const accountId = 'an account';
    const event = (action: AuditAction, actor: AuditActor = 'account') => ({ accountId, action, actor });
    let log: AuditLog;

    before(async () => {
      const { connection, clock } = api.domain;
      log = new AuditLog(connection, clock, pino({ level: 'silent' }), { perAccount: 3, withoutAccount: 5 });
      await ensureIndexes(connection);
    });
    const all = async () =>
      (await log.list(accountId, { limit: 100, offset: 0, newestFirst: false })).entries;
    const actions = async () => (await all()).map(({ action }) => action);

    it('says how many entries were left out, and leaves out no other action', async () => {
      await Promise.all(Array.from({ length: 10 }, () => log.record(event('template.saved'))));
      await log.record(event('key.created'));
      const entries = await all();
      const leftOut = entries.filter(({ action }) => action === 'audit.entries_left_out');
      assert.equal(leftOut.length, 1);
      const { details, actor, targetId } = leftOut[0]!;
      assert.deepEqual(
        [details, actor, targetId],
        [{ action: 'template.saved', entries: '7' }, 'account', null],
      );
      assert.equal(entries.filter(({ action }) => action === 'template.saved').length, 3);
      assert.equal(entries.at(-1)!.action, 'key.created');
    });

    it('is complete again on the next day', async () => {
      const before = (await all()).length;
      api.domain.clock.pass(DAY_MS);
      for (let i = 0; i < 4; i += 1) await log.record(event('template.saved'));
      const added = (await all()).slice(before);
      assert.deepEqual(added.map(({ action }) => action).toSorted(), [
        'audit.entries_left_out',
        'template.saved',
        'template.saved',
        'template.saved',
      ]);
      const leftOut = added.find(({ action }) => action === 'audit.entries_left_out');
      assert.equal(leftOut!.details.entries, '1');
    });

    it('leaves out no entry of an operator', async () => {
      const before = (await all()).length;
      for (let i = 0; i < 5; i += 1) await log.record(event('account.plan_changed', 'operator'));
      assert.deepEqual((await actions()).slice(before), Array(5).fill('account.plan_changed'));
    });

    it('is bounded for events without an account as well', async () => {
      const before = await count({ accountId: null });
      const failed = { accountId: null, action: 'account.sign_in_failed', actor: 'anonymous' } as const;
      for (let i = 0; i < 20; i += 1) await log.record(failed);
      const added = (await count({ accountId: null })) - before;
      assert.equal(added, 6 - Math.min(5, before));
    });
  });

  it("keeps 500 entries of an action in a day, as the route's description says", async () => {
    const client = await signUp(api.url);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    const saved = { accountId, action: 'template.saved', actor: 'account' } as const;
    for (let i = 0; i < 505; i += 1) await api.tenants.audit.record(saved);
    const page = await client.expect(200, 'GET', '/user/audit-log?action=audit.entries_left_out');
    assert.equal(page.total, 1);
    assert.deepEqual(page.entries[0].details, { action: 'template.saved', entries: '5' });
    const { total } = await client.expect(200, 'GET', '/user/audit-log?action=template.saved');
    assert.equal(total, 500);
  });

  it('deletes entries after 400 days', async () => {
    const now = api.domain.clock.now().getTime();
    const all = await count({});
    assert.equal(await api.tenants.audit.deleteOld(new Date(now + 399 * DAY_MS)), 0);
    assert.equal(await api.tenants.audit.deleteOld(new Date(now + 401 * DAY_MS)), all);
  });

  function count(filter: Record<string, unknown>): Promise<number> {
    return api.domain.connection.collection('audit_log').countDocuments(filter);
  }
});
