import {
  completedBatch,
  completedJob,
  directing,
  einvoiceJob,
  FILE,
  HTML,
  ITEMS,
  isEmpty,
  newBatch,
  newTemplate,
  ofBatch,
  ofJob,
  open,
  type Row,
  reportedJob,
  SENT,
} from './access-asks.ts';

/** What the free plan does not have. */
const WITH_CALLBACK = { executionMode: 'async', webhookUrl: 'https://example.com/hook' };

/** Operations with keys, and those of signed links. */
export const ACCESS_TO_PDFS: Readonly<Record<string, Row>> = {
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
  'POST /v1/pdf/convert': {
    status: 202,
    ask: () => ({ path: '/v1/pdf/convert', body: { ...SENT, executionMode: 'async' } }),
    askInBody: async (owner) => {
      const body = { jobId: await completedJob(owner), executionMode: 'async' };
      return { path: '/v1/pdf/convert', body };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({ path: '/v1/pdf/convert', body: { ...SENT, options: { timeoutMs: 30_001 } } }),
    },
  },
  'POST /v1/pdf/fill': {
    status: 202,
    ask: () => ({ path: '/v1/pdf/fill', body: { ...SENT, values: {}, executionMode: 'async' } }),
    askInBody: async (owner) => {
      const body = { jobId: await completedJob(owner), values: {}, executionMode: 'async' };
      return { path: '/v1/pdf/fill', body };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({
        path: '/v1/pdf/fill',
        body: { ...SENT, values: {}, ...WITH_CALLBACK },
      }),
    },
  },
  'POST /v1/pdf/flatten': {
    status: 202,
    ask: () => ({ path: '/v1/pdf/flatten', body: { ...SENT, executionMode: 'async' } }),
    askInBody: async (owner) => {
      const body = { jobId: await completedJob(owner), executionMode: 'async' };
      return { path: '/v1/pdf/flatten', body };
    },
    beyondPlan: {
      code: 'PLAN_LIMIT',
      ask: async () => ({
        path: '/v1/pdf/flatten',
        body: { ...SENT, ...WITH_CALLBACK },
      }),
    },
  },
  'POST /v1/pdf/validate': {
    status: 200,
    ask: () => ({ path: '/v1/pdf/validate', body: SENT }),
    askInBody: async (owner) => ({ path: '/v1/pdf/validate', body: { jobId: await completedJob(owner) } }),
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
  'POST /v1/pdf/batch/uploads': { status: 201, ask: () => ({ path: '/v1/pdf/batch/uploads', ...FILE }) },
  'POST /v1/pdf/batch/:id/release': directing('/v1/pdf/batch', 'release'),
  'POST /v1/pdf/batch/:id/pause': directing('/v1/pdf/batch', 'pause'),
  'POST /v1/pdf/batch/:id/resume': directing('/v1/pdf/batch', 'resume'),
  'GET /v1/pdf/batch': { ...open('/v1/pdf/batch'), isEmptyFor: isEmpty },
  'GET /v1/pdf/batch/:id': ofBatch(),
  'GET /v1/pdf/batch/:id/events': ofBatch('/events'),
  'GET /v1/pdf/batch/:id/manifest/download-url': ofBatch('/manifest/download-url'),
  'GET /v1/pdf/batch/:id/parts': ofBatch('/parts'),
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
};
