import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/infra/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import { exampleXml } from '../../support/invoice.ts';
import type { Actor } from './cast.ts';

/** A request that its owner is allowed. */
export interface Ask {
  readonly path: string;
  readonly body?: unknown;
  /** The media type of a body that is a text; default JSON. */
  readonly type?: string;
}

export interface Row {
  /** What `ask` is answered. */
  readonly status: number;
  /** Makes what the request is about, and the request. */
  readonly ask: (owner: Actor) => Ask | Promise<Ask>;
  /** The same, with something of the owner's named in the body. */
  readonly askInBody?: (owner: Actor) => Promise<Ask>;
  /** Its answer goes on until whoever asks goes away. */
  readonly endless?: true;
  /** Whoever asks cannot ask again. */
  readonly endsSession?: true;
  /** Of a route that shows what an account has: whether the answer to somebody who has nothing shows nothing. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly isEmptyFor?: (body: any, who: Actor) => boolean;
  /** What the free plan does not have. */
  readonly beyondPlan?: { readonly code: ErrorCode; readonly ask: (owner: Actor) => Promise<Ask> };
}

export const HTML = { html: '<p>x</p>' };
/** A PDF of one empty page, in base64. */
export const SENT = {
  pdf: Buffer.from(`%PDF-1.7
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 200 200]>> endobj
trailer <</Root 1 0 R /Size 4>>
startxref
9
%%EOF
`).toString('base64'),
};

export async function completedJob(owner: Actor): Promise<string> {
  const response = await owner.client.render({ ...HTML, executionMode: 'async' });
  const { jobId } = response.json;
  await owner.client.end(jobId);
  return jobId;
}

export async function reportedJob(owner: Actor): Promise<string> {
  const { jobId } = await owner.made('POST', '/v1/pdf', { ...HTML, report: true, executionMode: 'async' });
  await owner.client.end(jobId);
  return jobId;
}

/** A job whose PDF is an e-invoice. */
export async function einvoiceJob(owner: Actor): Promise<string> {
  const options = { einvoice: { profile: 'minimum', xml: exampleXml('minimum') } };
  const { jobId } = await owner.made('POST', '/v1/pdf', { ...HTML, options, executionMode: 'async' });
  await owner.client.end(jobId);
  return jobId;
}

/** A job that has failed: what it waits for never comes. */
export async function failedJob(owner: Actor): Promise<string> {
  const options = { waitForSelector: '#never', timeoutMs: 1000 };
  const { jobId } = await owner.made('POST', '/v1/pdf', { ...HTML, options, executionMode: 'async' });
  await owner.client.end(jobId);
  return jobId;
}

export async function newKey(owner: Actor): Promise<string> {
  return (await owner.made('POST', '/user/api-keys', { name: randomUUID() })).id;
}

export async function newTemplate(owner: Actor): Promise<{ id: string; versionId: string }> {
  return owner.made('POST', '/user/templates', { name: 'note', content: '<p>{{ x }}</p>' });
}

/** The callback of a render that has ended, to a port where nobody listens. */
export async function newCallback(owner: Actor): Promise<string> {
  const webhookUrl = 'https://127.0.0.1:8/';
  const { jobId } = await owner.made('POST', '/v1/pdf', { ...HTML, executionMode: 'async', webhookUrl });
  let found: { id: string } | undefined;
  await eventually('its callback is ordered', async () => {
    const { deliveries } = await owner.made('GET', '/user/webhook-deliveries');
    found = deliveries.find((delivery: { jobId: string }) => delivery.jobId === jobId);
    return found !== undefined;
  });
  return found!.id;
}

/** A request that is in the log. */
export async function loggedRequest(owner: Actor): Promise<string> {
  await owner.made('POST', '/v1/pdf', { ...HTML, executionMode: 'async' });
  let id: string | undefined;
  await eventually('it is in the log', async () => {
    ({ id } = (await owner.made('GET', '/user/request-logs')).logs[0] ?? {});
    return id !== undefined;
  });
  return id!;
}

export const ofJob = (rest = '', made = completedJob) => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/v1/pdf/jobs/${await made(owner)}${rest}` }),
});

export const ofRender = (rest = '', made = completedJob) => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/user/renders/${await made(owner)}${rest}` }),
});

export const ITEMS = ['first', 'second'].map((id) => ({ id, ...HTML }));

export async function newBatch(owner: Actor, options: object = {}): Promise<string> {
  const items = ITEMS.map((item) => ({ ...item, options }));
  return (await owner.made('POST', '/v1/pdf/batch', { items })).jobId;
}

/** A file of two rows. */
export const FILE = { type: 'text/csv', body: 'id,x\na,1\nb,2\n' };

/** A batch of the rows of a file that waits for its release, or is about to. */
export async function newSourcedBatch(owner: Actor): Promise<string> {
  const { id: templateId } = await newTemplate(owner);
  const type = { 'content-type': FILE.type };
  const sent = await owner.client.call('POST', '/v1/pdf/batch/uploads', FILE.body, {
    ...owner.headers,
    ...type,
  });
  const source = { upload: sent.json.id, format: 'csv', templateId };
  return (await owner.made('POST', '/v1/pdf/batch', { source, proof: 1 })).jobId;
}

/** What an owner decides about such a batch. @param base the path of batches. */
export const directing = (base: string, order: 'release' | 'pause' | 'resume') => ({
  status: 200,
  ask: async (owner: Actor) => {
    const path = `${base}/${await newSourcedBatch(owner)}`;
    if (order === 'resume') await owner.made('POST', `${path}/pause`);
    return { path: `${path}/${order}` };
  },
});

export async function completedBatch(owner: Actor): Promise<string> {
  const batchId = await newBatch(owner);
  await endOfBatch(owner, batchId);
  return batchId;
}

export async function endOfBatch(owner: Actor, batchId: string): Promise<void> {
  await eventually('the batch has ended', async () => {
    const { finishedAt } = await owner.made('GET', `/v1/pdf/batch/${batchId}`);
    return finishedAt !== null;
  });
}

export const ofBatch = (rest = '') => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/v1/pdf/batch/${await completedBatch(owner)}${rest}` }),
});

export const ofUserBatch = (rest = '') => ({
  status: 200,
  ask: async (owner: Actor) => ({ path: `/user/batches/${await completedBatch(owner)}${rest}` }),
});

/** A route of a template; `rest` is what stands behind its id. */
export const ofTemplate = (rest: (saved: { versionId: string }) => string = () => '', body?: unknown) => ({
  status: 200,
  ask: async (owner: Actor) => {
    const saved = await newTemplate(owner);
    return { path: `/user/templates/${saved.id}${rest(saved)}`, body };
  },
});

/** A route of the draft of a template. */
export const ofDraft = (rest: string): Row => ({
  status: 200,
  ask: async (owner) => {
    const { id } = await newTemplate(owner);
    await owner.made('PUT', `/user/templates/${id}/draft`, { name: 'note', content: 'x' });
    return { path: `/user/templates/${id}/draft${rest}`, body: {} };
  },
});

export const ofVersions = (rest: (saved: { versionId: string }) => string): Row => {
  const row = ofTemplate(rest);
  return { ...row, beyondPlan: { code: 'PLAN_LIMIT', ask: row.ask } };
};

export const open = (path: string): Row => ({ status: 200, ask: () => ({ path }) });
export const isEmpty = ({ total }: { total: number }) => total === 0;
