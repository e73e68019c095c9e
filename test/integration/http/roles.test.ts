import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { API_ROUTES } from '../../../src/http/app.ts';
import { MEMBER_ROLES } from '../../../src/tenants/members/roles.ts';
import { signUp } from '../../support/account-client.ts';
import { actingFor, type Member, newMember } from '../accounts/support/member.ts';
import { openApi, type TestApi } from './support/api.ts';

/** What each role may do, as owners are told: `d`eveloper, `b`illing, `v`iewer; the owner may do everything. */
const ALLOWED: Readonly<Record<string, string>> = {
  'DELETE /auth/passkeys/:id': 'dbv',
  'DELETE /auth/second-factor': 'dbv',
  'DELETE /auth/session': 'dbv',
  'DELETE /auth/sessions/:id': 'dbv',
  'DELETE /user/api-keys/:id': 'd',
  'DELETE /user/batches/:id': 'd',
  'DELETE /user/domains/:domain': '',
  'DELETE /user/members/:id': '',
  'DELETE /user/members/invitations/:id': '',
  'DELETE /user/membership': 'dbv',
  'DELETE /user/renders/:id': 'd',
  'DELETE /user/renders/:id/shares/:shareId': 'd',
  'DELETE /user/templates/:id': 'd',
  'DELETE /user/templates/:id/draft': 'd',
  'GET /auth/accounts': 'dbv',
  'GET /auth/me': 'dbv',
  'GET /auth/passkeys': 'dbv',
  'GET /auth/second-factor': 'dbv',
  'GET /auth/sessions': 'dbv',
  'GET /user/alerts': 'dbv',
  'GET /user/api-keys': 'dv',
  'GET /user/audit-log': '',
  'GET /user/batches': 'dv',
  'GET /user/batches/:id': 'dv',
  'GET /user/batches/:id/items': 'dv',
  'GET /user/batches/:id/manifest': 'dv',
  'GET /user/batches/:id/zip': 'dv',
  'GET /user/batches/metrics': 'dbv',
  'GET /user/bill': 'b',
  'GET /user/billing-portal': 'b',
  'GET /user/domains': '',
  'GET /user/events': 'dbv',
  'GET /user/invoices': 'b',
  'GET /user/members': 'dbv',
  'GET /user/notifications': 'dbv',
  'GET /user/overage': 'b',
  'GET /user/plans': 'dbv',
  'GET /user/queue': 'dbv',
  'GET /user/renders': 'dv',
  'GET /user/renders/:id': 'dv',
  'GET /user/renders/:id/file': 'dv',
  'GET /user/renders/:id/input': 'dv',
  'GET /user/renders/:id/report': 'dv',
  'GET /user/renders/:id/shares': 'd',
  'GET /user/renders/zip': 'dv',
  'GET /user/request-logs': 'dv',
  'GET /user/request-logs/:id': 'dv',
  'GET /user/subscription': 'dbv',
  'GET /user/subscription/upgrade-preview': 'b',
  'GET /user/templates': 'dv',
  'GET /user/templates/:id': 'dv',
  'GET /user/templates/:id/draft': 'dv',
  'GET /user/templates/:id/versions': 'dv',
  'GET /user/templates/:id/versions/:versionId': 'dv',
  'GET /user/usage': 'dbv',
  'GET /user/usage/series': 'dbv',
  'GET /user/webhook-deliveries': 'dv',
  'GET /user/webhook-deliveries/:id': 'dv',
  'GET /user/webhook-keys': 'dv',
  'PATCH /auth/passkeys/:id': 'dbv',
  'PATCH /auth/session': 'dbv',
  'PATCH /user/account': '',
  'PATCH /user/api-keys/:id': 'd',
  'PATCH /user/domains/:domain': '',
  'PATCH /user/members/:id': '',
  'PATCH /user/notifications': 'dbv',
  'PATCH /user/notifications/thresholds': '',
  'PATCH /user/templates/:id': 'd',
  'POST /auth/email/verification': 'dbv',
  'POST /auth/logout': 'dbv',
  'POST /auth/passkeys': 'dbv',
  'POST /auth/passkeys/registration': 'dbv',
  'POST /auth/password': 'dbv',
  'POST /auth/second-factor': 'dbv',
  'POST /auth/second-factor/confirm': 'dbv',
  'POST /auth/second-factor/recovery-codes': 'dbv',
  'PUT /user/members/second-factor': '',
  'PUT /user/templates/:id/draft': 'd',
  'PUT /user/request-logs/details': '',
  'POST /user/api-keys': 'd',
  'POST /user/api-keys/:id/rotate': 'd',
  'POST /user/batches': 'd',
  'POST /user/batches/:id/retry-failed': 'd',
  'POST /user/batches/:id/pause': 'd',
  'POST /user/batches/:id/release': 'd',
  'POST /user/batches/:id/resume': 'd',
  'POST /user/batches/uploads': 'd',
  'POST /user/checkout': 'b',
  'POST /user/domains': '',
  'POST /user/domains/:domain/verification': '',
  'POST /user/members/:id/transfer': '',
  'POST /user/members/invitations': '',
  'POST /user/overage': 'b',
  'POST /user/renders': 'd',
  'POST /user/renders/:id/retry': 'd',
  'POST /user/renders/:id/share': 'd',
  'POST /user/subscription/auto-overage': 'b',
  'POST /user/subscription/cancel': 'b',
  'POST /user/subscription/resume': 'b',
  'POST /user/templates': 'd',
  'POST /user/templates/:id/draft/publish': 'd',
  'POST /user/templates/:id/versions/:versionId/rollback': 'd',
  'POST /user/templates/preview': 'd',
  'POST /user/webhook-deliveries/:id/redeliver': 'd',
  'POST /user/webhook-deliveries/redeliver-failed': 'd',
  'POST /user/webhook-deliveries/test': 'd',
  'POST /user/webhook-keys/rotate': 'd',
};

const ROUTES = API_ROUTES.filter(({ auth }) => auth === 'bearer').map((route) => ({
  ...route,
  name: `${route.method.toUpperCase()} ${route.path}`,
}));

describe('Roles of members', () => {
  let api: TestApi;
  let accountId: string;
  const members: Record<string, Member> = {};

  before(async () => {
    api = await openApi();
    ({ id: accountId } = await (await signUp(api.url)).expect(200, 'GET', '/auth/me'));
    await api.accounts.setPlan(accountId, 'business');
    for (const role of MEMBER_ROLES) members[role] = await newMember(api, accountId, role);
  });
  after(() => api.close());

  it('are laid down for every route that people call, and for no other', () => {
    assert.deepEqual(Object.keys(ALLOWED).sort(), ROUTES.map(({ name }) => name).sort());
  });

  /** Asks as the person, with a token that nothing else needs, and without harm: for nothing that there is. */
  async function codeFor(personId: string, actsFor: string, { name, path, method }: (typeof ROUTES)[number]) {
    const { token } = await actingFor(api, personId, actsFor);
    const response = await fetch(`${api.url}${path.replace(/:\w+/g, () => randomUUID())}?x=1`, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method !== 'get' && method !== 'delete' && { body: '[]' }),
      redirect: 'manual',
    });
    if (response.status < 400) {
      await response.body?.cancel();
      return `${response.status}`;
    }
    const { code, statusCode } = (await response.json()) as { code: string; statusCode: number };
    assert.equal(statusCode, response.status, name);
    return code;
  }

  for (const role of MEMBER_ROLES)
    it(`allow a ${role} what is laid down, and nothing else`, async () => {
      for (const route of ROUTES.filter(({ name }) => name !== 'DELETE /user/membership')) {
        const code = await codeFor(members[role]!.personId, accountId, route);
        const isAllowed = ALLOWED[route.name]?.includes(role[0]!);
        if (isAllowed) assert.notEqual(code, 'ROLE_NOT_ALLOWED', route.name);
        else assert.equal(code, 'ROLE_NOT_ALLOWED', route.name);
        assert.notEqual(code, 'UNAUTHENTICATED', route.name);
      }
    });

  it('leave somebody who belongs to no account only the own sign-in', async () => {
    const { personId } = members.viewer!;
    const accounts = api.domain.connection.collection<{ _id: string }>('accounts');
    await accounts.updateOne({ _id: personId }, { $set: { memberOnly: true } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    for (const route of ROUTES) {
      const code = await codeFor(personId, personId, route);
      if (route.path.startsWith('/auth/')) assert.notEqual(code, 'ROLE_NOT_ALLOWED', route.name);
      else assert.equal(code, 'ROLE_NOT_ALLOWED', route.name);
    }
  });
});
