import { randomUUID } from 'node:crypto';
import { newEmail, PASSWORD } from '../../support/account-client.ts';
import {
  completedJob,
  directing,
  endOfBatch,
  FILE,
  failedJob,
  HTML,
  ITEMS,
  isEmpty,
  loggedRequest,
  newBatch,
  newCallback,
  newKey,
  newTemplate,
  ofDraft,
  ofRender,
  ofTemplate,
  ofUserBatch,
  ofVersions,
  open,
  type Row,
  reportedJob,
} from './access-asks.ts';
import { ACCESS_TO_PDFS } from './access-to-pdfs.ts';
import { type Actor, KEEPS_NOTHING } from './cast.ts';

const newClaim = () => ({
  domain: `${randomUUID()}.example`,
  issuer: 'https://login.example.com',
  clientId: 'platen',
});

/** The path of a claim, of those that an account may have. */
async function ofDomain(owner: Actor): Promise<string> {
  const { domains } = await owner.made('GET', '/user/domains');
  const { domain } = domains[0] ?? (await owner.made('POST', '/user/domains', newClaim()));
  return `/user/domains/${domain}`;
}

async function ofFailedBatch(owner: Actor) {
  const batchId = await newBatch(owner, { waitForSelector: '#never', timeoutMs: 1000 });
  await endOfBatch(owner, batchId);
  return { path: `/user/batches/${batchId}/retry-failed` };
}

const NO_CREDENTIAL = { id: 'eA', clientDataJSON: 'e30', attestationObject: 'oA' };

/** Every operation of the API document. */
export const ACCESS: Readonly<Record<string, Row>> = {
  ...ACCESS_TO_PDFS,

  'POST /auth/register': {
    status: 201,
    ask: () => ({ path: '/auth/register', body: { email: newEmail(), password: PASSWORD } }),
  },
  'POST /auth/login': {
    status: 200,
    ask: async (owner) => {
      const body = { email: newEmail(), password: PASSWORD };
      await owner.made('POST', '/auth/register', body);
      return { path: '/auth/login', body };
    },
  },
  'POST /auth/logout': { ...open('/auth/logout'), endsSession: true },
  'GET /auth/me': { ...open('/auth/me'), isEmptyFor: ({ id }, who) => id === who.accountId },

  'GET /auth/config': open('/auth/config'),
  // Without an issuer to sign in at.
  'GET /auth/oidc/start': { ...open('/auth/oidc/start'), status: 404 },
  'GET /auth/oidc/callback/:domain': { ...open('/auth/oidc/callback/nobodys.example'), status: 302 },
  'GET /auth/oidc/callback': { ...open('/auth/oidc/callback'), status: 404 },
  'POST /auth/session': {
    status: 201,
    ask: async (owner) => {
      const body = { email: newEmail(), password: PASSWORD };
      await owner.made('POST', '/auth/register', body);
      return { path: '/auth/session', body };
    },
  },
  'DELETE /auth/session': { ...open('/auth/session'), endsSession: true },
  'PATCH /auth/session': {
    // Only a session can act for another account, which no token is.
    status: 403,
    ask: (owner) => ({ path: '/auth/session', body: { accountId: owner.accountId } }),
  },
  'GET /auth/accounts': {
    ...open('/auth/accounts'),
    isEmptyFor: ({ accounts }, who) => accounts.length === 1 && accounts[0].id === who.accountId,
  },
  'GET /auth/second-factor': {
    ...open('/auth/second-factor'),
    isEmptyFor: ({ since, recoveryCodesLeft }) => since === null && recoveryCodesLeft === 0,
  },
  'POST /auth/second-factor': { ...open('/auth/second-factor'), status: 201 },
  'POST /auth/second-factor/confirm': {
    status: 403,
    ask: () => ({ path: '/auth/second-factor/confirm', body: { code: '000000' } }),
  },
  // Nobody here has one.
  'POST /auth/second-factor/recovery-codes': { ...open('/auth/second-factor/recovery-codes'), status: 404 },
  'DELETE /auth/second-factor': { ...open('/auth/second-factor'), status: 404 },
  'PUT /user/members/second-factor': {
    status: 200,
    ask: () => ({ path: '/user/members/second-factor', body: { required: false } }),
  },
  // Who has a device with passkeys is in test/integration/accounts/passkeys.test.ts.
  'POST /auth/passkeys/challenge': { ...open('/auth/passkeys/challenge'), status: 201 },
  'GET /auth/passkeys': {
    ...open('/auth/passkeys'),
    isEmptyFor: ({ passkeys }) => passkeys.length === 0,
  },
  'POST /auth/passkeys/registration': { ...open('/auth/passkeys/registration'), status: 201 },
  'POST /auth/passkeys': {
    status: 403,
    ask: () => ({ path: '/auth/passkeys', body: { name: 'x', credential: NO_CREDENTIAL } }),
  },
  'PATCH /auth/passkeys/:id': {
    status: 404,
    ask: () => ({ path: `/auth/passkeys/${'0'.repeat(64)}`, body: { name: 'x' } }),
  },
  'DELETE /auth/passkeys/:id': { ...open(`/auth/passkeys/${'0'.repeat(64)}`), status: 404 },
  'PATCH /user/account': {
    status: 200,
    ask: () => ({ path: '/user/account', body: { name: 'renamed' } }),
  },
  'GET /user/domains': { ...open('/user/domains'), isEmptyFor: ({ domains }) => domains.length === 0 },
  'POST /user/domains': { status: 201, ask: () => ({ path: '/user/domains', body: newClaim() }) },
  // No name server knows of it.
  'POST /user/domains/:domain/verification': {
    status: 404,
    ask: () => ({ path: '/user/domains/nobodys.example/verification' }),
  },
  'PATCH /user/domains/:domain': {
    status: 200,
    ask: async (owner) => ({ path: await ofDomain(owner), body: { role: 'billing' } }),
  },
  'DELETE /user/domains/:domain': {
    status: 200,
    ask: async (owner) => ({ path: await ofDomain(owner) }),
  },
  'GET /user/members': {
    ...open('/user/members'),
    isEmptyFor: ({ members }, who) => members.length === 1 && members[0].personId === who.accountId,
  },
  'POST /user/members/invitations': {
    status: 201,
    ask: () => ({ path: '/user/members/invitations', body: { email: newEmail(), role: 'viewer' } }),
  },
  'DELETE /user/members/invitations/:id': {
    status: 200,
    ask: async (owner) => {
      const body = { email: newEmail(), role: 'viewer' };
      const { id } = await owner.made('POST', '/user/members/invitations', body);
      return { path: `/user/members/invitations/${id}` };
    },
  },
  'PATCH /user/members/:id': {
    status: 200,
    ask: async (owner) => {
      return { path: `/user/members/${await owner.newMember()}`, body: { role: 'developer' } };
    },
  },
  'DELETE /user/members/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/members/${await owner.newMember()}` }),
  },
  // The owner cannot leave, nor be given what is the owner's.
  'DELETE /user/membership': { ...open('/user/membership'), status: 409 },
  'POST /user/members/:id/transfer': {
    status: 409,
    ask: (owner) => ({ path: `/user/members/${owner.accountId}/transfer` }),
  },
  'GET /auth/sessions': { ...open('/auth/sessions'), isEmptyFor: isEmpty },
  'DELETE /auth/sessions/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/auth/sessions/${await owner.newSession()}` }),
  },

  // These prove who they are by something that nobody has here.
  'POST /auth/invitations': {
    status: 403,
    ask: () => ({ path: '/auth/invitations', body: { token: 'x'.repeat(43) } }),
  },
  'POST /auth/invitations/accept': {
    status: 403,
    ask: () => ({ path: '/auth/invitations/accept', body: { token: 'x'.repeat(43), password: PASSWORD } }),
  },
  'POST /auth/password': {
    status: 403,
    ask: () => ({ path: '/auth/password', body: { currentPassword: 'wrong', newPassword: PASSWORD } }),
  },
  'POST /auth/forgot': {
    status: 202,
    ask: () => ({ path: '/auth/forgot', body: { email: newEmail() } }),
  },
  'POST /auth/reset': {
    status: 403,
    ask: () => ({ path: '/auth/reset', body: { token: 'x'.repeat(43), password: PASSWORD } }),
  },
  'POST /auth/email/verify': {
    status: 403,
    ask: () => ({ path: '/auth/email/verify', body: { token: 'x'.repeat(43) } }),
  },
  'POST /auth/email/verification': { status: 202, ask: () => ({ path: '/auth/email/verification' }) },

  'GET /user/api-keys': {
    ...open('/user/api-keys'),
    // Its own one.
    isEmptyFor: ({ keys }, who) => keys.length === 1 && who.key.startsWith(keys[0].prefix),
  },
  'POST /user/api-keys': {
    status: 201,
    ask: () => ({ path: '/user/api-keys', body: { name: 'one more' } }),
    beyondPlan: {
      code: 'KEY_CAPACITY',
      ask: async (owner) => {
        await newKey(owner);
        return { path: '/user/api-keys', body: { name: 'one too many' } };
      },
    },
  },
  'POST /user/api-keys/:id/rotate': {
    status: 200,
    ask: async (owner) => ({ path: `/user/api-keys/${await newKey(owner)}/rotate` }),
  },
  'PATCH /user/api-keys/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/api-keys/${await newKey(owner)}`, body: { name: 'renamed' } }),
  },
  'DELETE /user/api-keys/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/api-keys/${await newKey(owner)}` }),
  },

  'POST /user/templates': {
    status: 201,
    ask: () => ({ path: '/user/templates', body: { name: 'note', content: '<p>x</p>' } }),
  },
  'GET /user/templates': { ...open('/user/templates'), isEmptyFor: isEmpty },
  'POST /user/templates/preview': {
    status: 200,
    ask: () => ({ path: '/user/templates/preview', body: { content: '<p>x</p>' } }),
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({
        path: '/user/templates/preview',
        body: { content: '<p>x</p>', output: 'pdf', options: { timeoutMs: 30_001 } },
      }),
    },
    askInBody: async (owner) => {
      return { path: '/user/templates/preview', body: { templateId: (await newTemplate(owner)).id } };
    },
  },
  'GET /user/templates/:id': ofTemplate(),
  'PATCH /user/templates/:id': ofTemplate(undefined, { name: 'renamed' }),
  'DELETE /user/templates/:id': ofTemplate(),
  'GET /user/templates/:id/draft': ofTemplate(() => '/draft'),
  'PUT /user/templates/:id/draft': ofTemplate(() => '/draft', { name: 'note', content: 'x' }),
  'DELETE /user/templates/:id/draft': ofTemplate(() => '/draft'),
  'POST /user/templates/:id/draft/publish': ofDraft('/publish'),
  'GET /user/templates/:id/versions': ofVersions(() => '/versions'),
  'GET /user/templates/:id/versions/:versionId': ofVersions(({ versionId }) => `/versions/${versionId}`),
  'POST /user/templates/:id/versions/:versionId/rollback': ofVersions(
    ({ versionId }) => `/versions/${versionId}/rollback`,
  ),

  'GET /user/usage': { ...open('/user/usage'), isEmptyFor: ({ totalRequests }) => totalRequests === 0 },
  'GET /user/usage/series': {
    ...open('/user/usage/series'),
    isEmptyFor: ({ points }) => points.every(({ total }: { total: number }) => total === 0),
  },
  'GET /user/batches/metrics': {
    ...open('/user/batches/metrics'),
    isEmptyFor: ({ averageItemsPerBatch }) => averageItemsPerBatch === 0,
  },
  'GET /user/request-logs': { ...open('/user/request-logs'), isEmptyFor: isEmpty },
  'GET /user/request-logs/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/request-logs/${await loggedRequest(owner)}` }),
  },
  'PUT /user/request-logs/details': {
    status: 200,
    ask: () => ({ path: '/user/request-logs/details', body: { kept: true } }),
  },
  'GET /user/audit-log': { ...open('/user/audit-log'), isEmptyFor: isEmpty },

  'GET /user/renders': { ...open('/user/renders'), isEmptyFor: isEmpty },
  'POST /user/renders': {
    status: 202,
    ask: () => ({ path: '/user/renders', body: HTML }),
    askInBody: async (owner) => {
      return { path: '/user/renders', body: { templateId: (await newTemplate(owner)).id } };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({ path: '/user/renders', body: { ...HTML, options: { timeoutMs: 30_001 } } }),
    },
  },
  'GET /user/renders/zip': {
    status: 200,
    ask: async (owner) => ({ path: `/user/renders/zip?ids=${await completedJob(owner)}` }),
  },
  'GET /user/renders/:id': ofRender(),
  'GET /user/renders/:id/file': ofRender('/file'),
  'POST /user/renders/:id/share': {
    status: 201,
    ask: async (owner) => ({ path: `/user/renders/${await completedJob(owner)}/share`, body: {} }),
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async (owner) => {
        const path = `/user/renders/${await completedJob(owner)}/share`;
        for (let link = 0; link < 50; link += 1) await owner.made('POST', path, {});
        return { path, body: {} };
      },
    },
  },
  'GET /user/renders/:id/shares': ofRender('/shares'),
  'DELETE /user/renders/:id/shares/:shareId': {
    status: 200,
    ask: async (owner) => {
      const path = `/user/renders/${await completedJob(owner)}`;
      const { id } = await owner.made('POST', `${path}/share`, {});
      return { path: `${path}/shares/${id}` };
    },
  },
  'GET /user/renders/:id/report': ofRender('/report', reportedJob),
  'GET /user/renders/:id/input': ofRender('/input', failedJob),
  'POST /user/renders/:id/retry': {
    ...{ ...ofRender('/retry', failedJob), status: 202 },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async (owner) => {
        const path = `/user/renders/${await failedJob(owner)}/retry`;
        await owner.moveTo(KEEPS_NOTHING);
        return { path };
      },
    },
  },
  'DELETE /user/renders/:id': {
    status: 200,
    ask: async (owner) => {
      const options = { delayMs: 20_000, timeoutMs: 30_000 };
      return { path: `/user/renders/${await owner.client.submit({ ...HTML, options })}` };
    },
  },
  'GET /user/batches': { ...open('/user/batches'), isEmptyFor: isEmpty },
  'POST /user/batches': {
    status: 202,
    ask: () => ({ path: '/user/batches', body: { items: ITEMS } }),
    askInBody: async (owner) => {
      const { id: templateId } = await newTemplate(owner);
      return { path: '/user/batches', body: { items: [...ITEMS, { id: 'third', templateId }] } };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({
        path: '/user/batches',
        body: { items: ITEMS, webhookUrl: 'https://example.com/hook' },
      }),
    },
  },
  'POST /user/batches/uploads': {
    status: 201,
    ask: () => ({ path: '/user/batches/uploads?mode=live', ...FILE }),
  },
  'POST /user/batches/:id/release': directing('/user/batches', 'release'),
  'POST /user/batches/:id/pause': directing('/user/batches', 'pause'),
  'POST /user/batches/:id/resume': directing('/user/batches', 'resume'),
  'GET /user/batches/:id': ofUserBatch(),
  'GET /user/batches/:id/items': ofUserBatch('/items'),
  'GET /user/batches/:id/zip': ofUserBatch('/zip'),
  'GET /user/batches/:id/manifest': ofUserBatch('/manifest'),
  'DELETE /user/batches/:id': {
    status: 200,
    ask: async (owner) => {
      const options = { delayMs: 10_000 };
      return { path: `/user/batches/${await newBatch(owner, options)}` };
    },
  },
  'POST /user/batches/:id/retry-failed': {
    status: 202,
    ask: ofFailedBatch,
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async (owner) => {
        const asked = await ofFailedBatch(owner);
        await owner.moveTo(KEEPS_NOTHING);
        return asked;
      },
    },
  },
  'GET /user/plans': { ...open('/user/plans'), isEmptyFor: ({ current }) => current === 'business' },
  'GET /user/events': { ...open('/user/events'), endless: true },
  'GET /user/queue': { ...open('/user/queue'), isEmptyFor: ({ waiting }) => waiting === 0 },

  'GET /user/webhook-deliveries': { ...open('/user/webhook-deliveries'), isEmptyFor: isEmpty },
  'GET /user/webhook-deliveries/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/webhook-deliveries/${await newCallback(owner)}` }),
  },
  'POST /user/webhook-deliveries/test': {
    status: 202,
    ask: () => ({ path: '/user/webhook-deliveries/test', body: { url: 'https://127.0.0.1:8/' } }),
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({ path: '/user/webhook-deliveries/test', body: { url: 'https://example.com/' } }),
    },
  },
  'POST /user/webhook-deliveries/redeliver-failed': {
    status: 202,
    ask: () => ({
      path: '/user/webhook-deliveries/redeliver-failed',
      body: { since: '2026-01-01T00:00:00Z' },
    }),
  },
  'POST /user/webhook-deliveries/:id/redeliver': {
    status: 202,
    ask: async (owner) => ({ path: `/user/webhook-deliveries/${await newCallback(owner)}/redeliver` }),
  },
  'GET /user/webhook-keys': { ...open('/user/webhook-keys'), isEmptyFor: ({ keys }) => keys.length === 0 },
  'POST /user/webhook-keys/rotate': { status: 200, ask: () => ({ path: '/user/webhook-keys/rotate' }) },

  'GET /user/alerts': {
    ...open('/user/alerts'),
    isEmptyFor: ({ quota, webhooks }) => quota.used === 0 && webhooks.length === 0,
  },
  'GET /user/notifications': {
    ...open('/user/notifications'),
    isEmptyFor: ({ thresholds }) => thresholds.failurePercent === 20,
  },
  'PATCH /user/notifications': {
    status: 200,
    ask: () => ({ path: '/user/notifications', body: { quota: true } }),
  },
  'PATCH /user/notifications/thresholds': {
    status: 200,
    ask: () => ({ path: '/user/notifications/thresholds', body: { failurePercent: 30 } }),
  },
  'GET /public/notifications/unsubscribe': open('/public/notifications/unsubscribe?token=none'),
  'POST /public/notifications/unsubscribe': {
    status: 200,
    ask: () => ({ path: '/public/notifications/unsubscribe?token=none' }),
  },

  'GET /user/subscription': { ...open('/user/subscription'), isEmptyFor: ({ status }) => status === 'none' },
  'GET /user/bill': { ...open('/user/bill'), isEmptyFor: ({ used }) => used === 0 },
  'GET /user/invoices': { ...open('/user/invoices'), isEmptyFor: isEmpty },
  // Nothing is sold here, whoever asks or says that something was paid.
  'POST /user/subscription/cancel': { status: 400, ask: () => ({ path: '/user/subscription/cancel' }) },
  'POST /user/subscription/resume': { status: 400, ask: () => ({ path: '/user/subscription/resume' }) },
  'GET /user/overage': { status: 400, ask: () => ({ path: '/user/overage' }) },
  'GET /user/subscription/upgrade-preview': {
    status: 400,
    ask: () => ({ path: '/user/subscription/upgrade-preview?plan=business' }),
  },
  'POST /user/subscription/auto-overage': {
    status: 400,
    ask: () => ({ path: '/user/subscription/auto-overage', body: { enabled: true } }),
  },
  'POST /user/overage': { status: 400, ask: () => ({ path: '/user/overage', body: { blockSize: 1000 } }) },
  'POST /user/checkout': { status: 400, ask: () => ({ path: '/user/checkout', body: { plan: 'starter' } }) },
  'GET /user/billing-portal': { status: 400, ask: () => ({ path: '/user/billing-portal' }) },
  'POST /webhooks/payments': { status: 400, ask: () => ({ path: '/webhooks/payments', body: {} }) },

  'GET /public/auto-overage/disable': open('/public/auto-overage/disable?token=none'),
  'POST /public/auto-overage/disable': {
    status: 303,
    ask: () => ({ path: '/public/auto-overage/disable', body: { token: 'none' } }),
  },
  'GET /healthz': open('/healthz'),
  'GET /readyz': open('/readyz'),
  'GET /metrics': open('/metrics'),
  'GET /version': open('/version'),
  'GET /openapi.json': open('/openapi.json'),
  'GET /docs': open('/docs'),
  'GET /docs/api/try': open('/docs/api/try'),
};
