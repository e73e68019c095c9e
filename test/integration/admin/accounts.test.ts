import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PASSWORD, signUp } from '../../support/account-client.ts';
import type { TestApi } from '../http/support/api.ts';
import { type TestAdmin, useAdmin } from './support/admin.ts';

describe('Accounts in the administration', () => {
  const opened = useAdmin();
  let api: TestApi;
  let admin: TestAdmin;
  before(() => {
    ({ api, admin } = opened);
  });

  describe('accounts', () => {
    it('are found by address, id and plan, page by page, with what they have asked for within a day', async () => {
      const word = `w${randomUUID().slice(0, 8)}`;
      const emails = Array.from({ length: 5 }, (_, i) => `${word}-${i}@example.com`);
      for (const email of emails) await api.accounts.create(email, null, 'starter');
      const byAddress = await admin.allRows(`/admin/api/accounts?limit=2&search=${word}`);
      assert.deepEqual(
        byAddress.map((account) => account.email),
        emails,
      );
      const byPlan = await admin.allRows('/admin/api/accounts?limit=2&plan=starter');
      assert.equal(new Set(byPlan.map(({ id }) => id)).size, 5);
      const all = await admin.allRows('/admin/api/accounts?limit=3');
      assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
      assert.ok(all.length >= 5);
      const { accountId } = await admin.failedJobs(2);
      await api.domain.flush();
      const { rows } = await admin.ok('GET', `/admin/api/accounts?search=${accountId}`);
      assert.deepEqual(
        rows.map(({ lastDay }: { lastDay: unknown }) => lastDay),
        [{ requests: 2, failed: 2 }],
      );
    });

    it('are suspended and resumed: keys, tokens and sign-in are refused with the code meanwhile', async () => {
      const email = `${randomUUID()}@example.com`;
      const owner = await signUp(api.url, email);
      const { id } = await owner.expect(200, 'GET', '/auth/me');
      const { apiKey: key } = await owner.expect(201, 'POST', '/user/api-keys', {
        name: 'k',
        mode: 'live',
        allowedIps: [],
      });
      const render = () =>
        fetch(`${api.url}/v1/pdf/jobs`, { headers: { 'x-api-key': key } }).then((response) =>
          response.json(),
        );
      const before = await admin.ok('GET', `/admin/api/accounts/${id}`);
      assert.equal(before.suspendedAt, null);
      const suspended = await admin.ok('POST', `/admin/api/accounts/${id}/suspend`, { reason: 'abuse' });
      assert.ok(suspended.suspendedAt !== null);
      await admin.ok('POST', `/admin/api/accounts/${id}/suspend`, { reason: 'again' });
      assert.equal((await render()).code, 'ACCOUNT_SUSPENDED');
      const me = await owner.call('GET', '/auth/me');
      assert.equal(me.status, 403);
      const login = await fetch(`${api.url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: PASSWORD }),
      });
      assert.equal(login.status, 403);
      const refused = (await login.json()) as { code: string; remedy: string };
      assert.equal(refused.code, 'ACCOUNT_SUSPENDED');
      assert.match(refused.remedy, /operator/);
      const { rows } = await admin.ok('GET', '/admin/api/accounts?suspended=true');
      assert.ok(rows.some((account: { id: string }) => account.id === id));
      const resumed = await admin.ok('POST', `/admin/api/accounts/${id}/resume`);
      assert.equal(resumed.suspendedAt, null);
      assert.equal((await render()).code, undefined);
      await owner.expect(200, 'GET', '/auth/me');
      const acts = [
        ...(await admin.audited('account.suspended')),
        ...(await admin.audited('account.resumed')),
      ];
      assert.deepEqual(
        acts
          .filter(({ accountId }) => accountId === id)
          .map(({ action, operator, details }) => [action, operator, details.reason]),
        [
          ['account.suspended', 'anna', 'abuse'],
          ['account.resumed', 'anna', undefined],
        ],
      );
      // The account sees that it was an operator, and not who.
      const log = JSON.stringify(await owner.expect(200, 'GET', '/user/audit-log'));
      assert.match(log, /account\.suspended/);
      assert.doesNotMatch(log, /anna/);
    });

    it('that do not exist are not found', async () => {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/resume'],
      ] as const)
        assert.equal((await admin.call(method, `/admin/api/accounts/${randomUUID()}${path}`)).status, 404);
    });
  });
});
