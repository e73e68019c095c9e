import { newEmail, PASSWORD } from '../../support/account-client.ts';
import {
  completedBatch,
  completedJob,
  einvoiceJob,
  endOfBatch,
  failedJob,
  HTML,
  ITEMS,
  isEmpty,
  newBatch,
  newCallback,
  newKey,
  newTemplate,
  ofBatch,
  ofJob,
  ofRender,
  ofTemplate,
  ofUserBatch,
  ofVersions,
  open,
  type Row,
  reportedJob,
} from './access-asks.ts';

/** Every operation of the API document. */
export const ACCESS: Readonly<Record<string, Row>> = {
  'POST /v1/pdf': {
    status: 202,
    ask: () => ({ path: '/v1/pdf', body: { ...HTML, executionMode: 'async' } }),
    askInBody: async (owner) => {
      const { id, versionId } = await newTemplate(owner);
      const body = { templateId: id, templateVersionId: versionId, executionMode: 'async' };
      return { path: '/v1/pdf', body };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({ path: '/v1/pdf', body: { ...HTML, options: { timeoutMs: 30_001 } } }),
    },
  },
  'GET /v1/pdf/jobs': { ...open('/v1/pdf/jobs'), isEmptyFor: isEmpty },
  'GET /v1/pdf/jobs/:id': ofJob(),
  'GET /v1/pdf/jobs/:id/file': ofJob('/file'),
  'GET /v1/pdf/jobs/:id/einvoice': ofJob('/einvoice', einvoiceJob),
  'GET /v1/pdf/jobs/:id/download-url': ofJob('/download-url'),
  'GET /v1/pdf/jobs/:id/report': ofJob('/report', reportedJob),
  'DELETE /v1/pdf/jobs/:id': {
    status: 200,
    ask: async (owner) => {
      const options = { delayMs: 20_000, timeoutMs: 30_000 };
      return { path: `/v1/pdf/jobs/${await owner.client.submit({ ...HTML, options })}` };
    },
  },
  'POST /v1/pdf/batch': {
    status: 202,
    ask: () => ({ path: '/v1/pdf/batch', body: { items: ITEMS } }),
    askInBody: async (owner) => {
      const { id: templateId } = await newTemplate(owner);
      return { path: '/v1/pdf/batch', body: { items: [...ITEMS, { id: 'third', templateId }] } };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({
        path: '/v1/pdf/batch',
        body: { items: ITEMS, webhookUrl: 'https://example.com/hook' },
      }),
    },
  },
  'GET /v1/pdf/batch': { ...open('/v1/pdf/batch'), isEmptyFor: isEmpty },
  'GET /v1/pdf/batch/:id': ofBatch(),
  'GET /v1/pdf/batch/:id/events': ofBatch('/events'),
  'GET /v1/pdf/batch/:id/manifest/download-url': ofBatch('/manifest/download-url'),
  'GET /v1/pdf/batch/:id/pdf': ofBatch('/pdf?merge=true'),
  'GET /v1/pdf/batch/:id/zip': ofBatch('/zip'),
  'GET /v1/pdf/batch/:id/:itemId': ofBatch('/first'),
  'GET /v1/pdf/batch/:id/items/:itemId/download-url': ofBatch('/items/first/download-url'),
  'DELETE /v1/pdf/batch/:id': {
    status: 200,
    ask: async (owner) => {
      const options = { delayMs: 10_000 };
      return { path: `/v1/pdf/batch/${await newBatch(owner, options)}` };
    },
  },
  'GET /v1/files/:token': {
    status: 200,
    ask: async (owner) => {
      const { url } = await owner.made('GET', `/v1/pdf/jobs/${await completedJob(owner)}/download-url`);
      return { path: new URL(url).pathname };
    },
  },
  'GET /v1/files/:token/manifest': {
    status: 200,
    ask: async (owner) => {
      const path = `/v1/pdf/batch/${await completedBatch(owner)}/manifest/download-url`;
      const { url } = await owner.made('GET', path);
      return { path: new URL(url).pathname };
    },
  },

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
  'GET /auth/sessions': { ...open('/auth/sessions'), isEmptyFor: isEmpty },
  'DELETE /auth/sessions/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/auth/sessions/${await owner.newSession()}` }),
  },

  // These prove who they are by something that nobody has here.
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
  'GET /user/renders/:id': ofRender(),
  'GET /user/renders/:id/file': ofRender('/file'),
  'POST /user/renders/:id/share': {
    status: 201,
    ask: async (owner) => ({ path: `/user/renders/${await completedJob(owner)}/share`, body: {} }),
  },
  'GET /user/renders/:id/report': ofRender('/report', reportedJob),
  'GET /user/renders/:id/input': ofRender('/input', failedJob),
  'POST /user/renders/:id/retry': { ...ofRender('/retry', failedJob), status: 202 },
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
    ask: async (owner) => {
      const batchId = await newBatch(owner, { waitForSelector: '#never', timeoutMs: 1000 });
      await endOfBatch(owner, batchId);
      return { path: `/user/batches/${batchId}/retry-failed` };
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
  'POST /user/webhook-deliveries/:id/redeliver': {
    status: 202,
    ask: async (owner) => ({ path: `/user/webhook-deliveries/${await newCallback(owner)}/redeliver` }),
  },
  'GET /user/webhook-keys': { ...open('/user/webhook-keys'), isEmptyFor: ({ keys }) => keys.length === 0 },
  'POST /user/webhook-keys/rotate': { status: 200, ask: () => ({ path: '/user/webhook-keys/rotate' }) },

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
