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
import { ACCESS_TO_ACCOUNTS } from './access-to-accounts.ts';
import { ACCESS_TO_PDFS } from './access-to-pdfs.ts';
import { type Actor, KEEPS_NOTHING } from './cast.ts';

async function ofFailedBatch(owner: Actor) {
  const batchId = await newBatch(owner, { waitForSelector: '#never', timeoutMs: 1000 });
  await endOfBatch(owner, batchId);
  return { path: `/user/batches/${batchId}/retry-failed` };
}

/** Every operation of the API document. */
export const ACCESS: Readonly<Record<string, Row>> = {
  ...ACCESS_TO_ACCOUNTS,
  ...ACCESS_TO_PDFS,

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
