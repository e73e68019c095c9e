import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/errors/registry.ts';
import { newEmail, PASSWORD } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import type { Actor } from './cast.ts';

/** A request that its owner is allowed. */
export interface Ask {
  readonly path: string;
  readonly body?: unknown;
}

interface Row {
  /** What `ask` is answered. */
  readonly status: number;
  /** Makes what the request is about, and the request. */
  readonly ask: (owner: Actor) => Ask | Promise<Ask>;
  /** The same, with something of the owner's named in the body. */
  readonly askInBody?: (owner: Actor) => Promise<Ask>;
  /** Whoever asks cannot ask again. */
  readonly endsSession?: true;
  /** Of a route that shows what an account has: whether the answer to somebody who has nothing shows nothing. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly isEmptyFor?: (body: any, who: Actor) => boolean;
  /** What the free plan does not have. */
  readonly beyondPlan?: { readonly code: ErrorCode; readonly ask: (owner: Actor) => Promise<Ask> };
}

const HTML = { html: '<p>x</p>' };
const ENDED_LIMIT_MS = 60_000;

async function completedJob(owner: Actor): Promise<string> {
  const answer = await owner.client.render({ ...HTML, executionMode: 'async' });
  const { jobId } = answer.json;
  await owner.client.end(jobId);
  return jobId;
}

async function newKey(owner: Actor): Promise<string> {
  return (await owner.made('POST', '/user/api-keys', { name: randomUUID() })).id;
}

async function newTemplate(owner: Actor): Promise<{ id: string; versionId: string }> {
  return owner.made('POST', '/user/templates', { name: 'note', content: '<p>{{ x }}</p>' });
}

/** The callback of a render that has ended, to a port where nobody listens. */
async function newCallback(owner: Actor): Promise<string> {
  const webhookUrl = 'https://127.0.0.1:8/';
  const { jobId } = await owner.made('POST', '/v1/pdf', { ...HTML, executionMode: 'async', webhookUrl });
  let found: { id: string } | undefined;
  await eventually(
    'its callback is ordered',
    async () => {
      const { deliveries } = await owner.made('GET', '/user/webhook-deliveries');
      found = deliveries.find((delivery: { jobId: string }) => delivery.jobId === jobId);
      return found !== undefined;
    },
    ENDED_LIMIT_MS,
  );
  return found!.id;
}

const ofJob = (rest = '') => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/v1/pdf/jobs/${await completedJob(owner)}${rest}` }),
});

const ITEMS = ['first', 'second'].map((id) => ({ id, ...HTML }));

async function newBatch(owner: Actor, options: object = {}): Promise<string> {
  const items = ITEMS.map((item) => ({ ...item, options }));
  return (await owner.made('POST', '/v1/pdf/batch', { items })).jobId;
}

async function completedBatch(owner: Actor): Promise<string> {
  const batchId = await newBatch(owner);
  await eventually(
    'the batch has ended',
    async () => {
      const { finishedAt } = await owner.made('GET', `/v1/pdf/batch/${batchId}`);
      return finishedAt !== null;
    },
    ENDED_LIMIT_MS,
  );
  return batchId;
}

const ofBatch = (rest = '') => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/v1/pdf/batch/${await completedBatch(owner)}${rest}` }),
});

/** A route of a template; `rest` is what stands behind its id. */
const ofTemplate = (rest: (saved: { versionId: string }) => string = () => '', body?: unknown) => ({
  status: 200,
  ask: async (owner: Actor) => {
    const saved = await newTemplate(owner);
    return { path: `/user/templates/${saved.id}${rest(saved)}`, body };
  },
});

const ofVersions = (rest: (saved: { versionId: string }) => string): Row => {
  const row = ofTemplate(rest);
  return { ...row, beyondPlan: { code: 'PLAN_LIMIT', ask: row.ask } };
};

const open = (path: string): Row => ({ status: 200, ask: () => ({ path }) });
const isEmpty = ({ total }: { total: number }) => total === 0;

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
  'GET /v1/pdf/jobs/:id/download-url': ofJob('/download-url'),
  'DELETE /v1/pdf/jobs/:id': {
    status: 200,
    ask: async (owner) => {
      const options = { delayMs: 20_000, timeoutMs: 30_000 };
      return { path: `/v1/pdf/jobs/${await owner.client.order({ ...HTML, options })}` };
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
  'GET /user/batches/metrics': {
    ...open('/user/batches/metrics'),
    isEmptyFor: ({ averageItemsPerBatch }) => averageItemsPerBatch === 0,
  },
  'GET /user/request-logs': { ...open('/user/request-logs'), isEmptyFor: isEmpty },
  'GET /user/audit-log': { ...open('/user/audit-log'), isEmptyFor: isEmpty },

  'GET /user/webhook-deliveries': { ...open('/user/webhook-deliveries'), isEmptyFor: isEmpty },
  'POST /user/webhook-deliveries/:id/redeliver': {
    status: 202,
    ask: async (owner) => ({ path: `/user/webhook-deliveries/${await newCallback(owner)}/redeliver` }),
  },
  'GET /user/webhook-keys': { ...open('/user/webhook-keys'), isEmptyFor: ({ keys }) => keys.length === 0 },
  'POST /user/webhook-keys/rotate': { status: 200, ask: () => ({ path: '/user/webhook-keys/rotate' }) },

  'GET /user/subscription': { ...open('/user/subscription'), isEmptyFor: ({ status }) => status === 'none' },
  'GET /user/invoices': { ...open('/user/invoices'), isEmptyFor: isEmpty },
  // Nothing is sold here, whoever asks or says that something was paid.
  'POST /user/subscription/cancel': { status: 400, ask: () => ({ path: '/user/subscription/cancel' }) },
  'POST /user/subscription/resume': { status: 400, ask: () => ({ path: '/user/subscription/resume' }) },
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
  'GET /openapi.json': open('/openapi.json'),
  'GET /docs': open('/docs'),
};
