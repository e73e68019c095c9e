import { z } from 'zod';
import { BATCH_STATUSES, type Batch } from '../../work/batches/batch.ts';
import { ITEM_STATUSES, itemRecord } from '../../work/batches/batch-item.ts';
import type { BatchOwner, BatchView } from '../../work/batches/batch-service.ts';
import { itemsByStatus } from '../../work/batches/items-by-status.ts';
import { newJobId } from '../../work/jobs/new-job.ts';
import type { ApiDeps } from '../api-deps.ts';
import { withoutKey } from '../request/authenticate-bearer.ts';
import { requireConfirmedAddress } from '../request/confirmed-address.ts';
import { paging, pagingByTime } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { sendZip, ZIP_RESPONSES } from './batch-files.ts';
import { MANIFEST_RESPONSES, sendManifest } from './batch-manifest.ts';
import { acceptedBatchSchema, batchErrors, nameItem } from './batch-schema.ts';
import { accepted, checkItemCount, createBatch, recordOf } from './batches.ts';
import { rangeHeaders } from './byte-range.ts';
import { idempotently } from './idempotency.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from './idempotency-schema.ts';
import { keyFieldsOf } from './key-fields.ts';
import { assertAdmissible, SUBMISSION_ERRORS, WORK_REJECTIONS } from './render-submission.ts';
import { requestedBatch } from './requested-work.ts';
import {
  retriedBatchSchema,
  userBatchItemListSchema,
  userBatchListSchema,
  userBatchRequestSchema,
  userBatchSchema,
} from './user-batch-schema.ts';

const defineRoute = routesOf({ tags: ['Batches of the account'], auth: 'bearer' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute('GET /user/batches', {
  right: 'read',
  operationId: 'listUserBatches',
  summary: 'List the batches of the account',
  description: 'Batches of live and of test keys.',
  query: z.strictObject({
    status: z.enum(BATCH_STATUSES).optional().describe('Only batches in this state.'),
    mode: z.enum(['live', 'test']).optional().describe('Only renders of live keys, or only of test keys.'),
    ...pagingByTime,
  }),
  responses: {
    200: { description: 'One page of batches, without their items.', schema: userBatchListSchema },
  },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { limit, offset, status, mode, sort } = query;
  const owner = { accountId: caller.accountId, ...(mode && { mode }) };
  const { total, views } = await deps.batches.list(owner, {
    limit,
    offset,
    newestFirst: sort === 'created_desc',
    ...(status && { status }),
  });
  return { status: 200, json: { total, limit, offset, batches: await batchBodies(views, deps) } };
});

const create = defineRoute('POST /user/batches', {
  right: 'develop',
  operationId: 'createUserBatch',
  summary: 'Render many documents in one batch, without an API key',
  description:
    'All items are checked together, and either all are accepted or none. The response comes before any of them is rendered.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: userBatchRequestSchema,
  precheckBody: checkItemCount,
  bodyErrors: batchErrors,
  describeError: nameItem,
  responses: {
    202: {
      description: 'Accepted; follow the batch.',
      schema: acceptedBatchSchema,
      headers: REPLAYED_HEADER,
    },
  },
  errors: ['BATCH_TOO_LARGE', 'ADDRESS_NOT_CONFIRMED', ...SUBMISSION_ERRORS],
}).handledBy(async (request, deps: ApiDeps) => {
  const { mode, ...body } = request.body;
  requireConfirmedAddress(request.caller, mode, deps);
  const caller = withoutKey(request.caller, mode);
  return await createBatch(request, { body, caller }, deps, '/user/batches');
});

const get = defineRoute('GET /user/batches/:id', {
  right: 'read',
  operationId: 'getUserBatch',
  summary: 'Get a batch of the account, without its items',
  params,
  responses: { 200: { description: 'The batch.', schema: userBatchSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  return { status: 200, json: await userBatchBody(caller, params.id, deps) };
});

const items = defineRoute('GET /user/batches/:id/items', {
  right: 'read',
  operationId: 'listUserBatchItems',
  summary: 'List the items of a batch',
  params,
  needsPermit: true,
  query: z.strictObject({
    status: z.enum(ITEM_STATUSES).optional().describe('Only items in this state.'),
    ...paging,
  }),
  responses: { 200: { description: 'One page of items, in their order.', schema: userBatchItemListSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const batch = await requestedBatch(request, deps);
  const { status, limit, offset } = request.query;
  const { batches } = deps;
  const found =
    status === undefined
      ? { total: batch.total, items: await batches.items(batch, { limit, offset }) }
      : await itemsByStatus(batches, batch, status, { limit, offset });
  const shown = found.items.map((item) => ({ ...itemRecord(batch, item), jobId: item.job?._id ?? null }));
  return { status: 200, json: { total: found.total, limit, offset, items: shown } };
});

const zip = defineRoute('GET /user/batches/:id/zip', {
  right: 'read',
  operationId: 'downloadUserBatchZip',
  summary: 'Download the completed items of a batch as a zip',
  params,
  headers: rangeHeaders,
  responses: ZIP_RESPONSES,
  errors: ['NOT_FOUND', 'GONE', 'RANGE_NOT_SATISFIABLE'],
}).handledBy(sendZip);

const manifest = defineRoute('GET /user/batches/:id/manifest', {
  right: 'read',
  operationId: 'downloadUserBatchManifest',
  summary: 'Download the manifest of a batch',
  description: 'It says what became of each item, and under which name its PDF is in the zip.',
  params,
  responses: MANIFEST_RESPONSES,
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  return await sendManifest(caller, params.id, deps);
});

const cancel = defineRoute('DELETE /user/batches/:id', {
  right: 'develop',
  operationId: 'cancelUserBatch',
  withoutRoom: 'confirmed',
  summary: 'Cancel a batch',
  description: 'Items that no worker has begun are cancelled. Running items are left to finish.',
  params,
  responses: { 200: { description: 'The batch.', schema: userBatchSchema } },
  errors: ['NOT_FOUND', 'JOB_ENDED'],
}).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  await deps.batches.cancel(caller, params.id);
  return { status: 200, json: await userBatchBody(caller, params.id, deps) };
});

const retryFailed = defineRoute('POST /user/batches/:id/retry-failed', {
  right: 'develop',
  operationId: 'retryFailedBatchItems',
  summary: 'Retry the items of a batch that have failed or were cancelled',
  description:
    'This makes a new batch under the current plan, and uses quota like any other. The old batch is not changed.',
  requestsWork: true,
  needsPermit: true,
  params,
  headers: idempotencyHeaders,
  responses: {
    202: {
      description: 'Accepted; follow the new batch.',
      schema: retriedBatchSchema,
      headers: REPLAYED_HEADER,
    },
  },
  errors: [
    'NOT_FOUND',
    'NOT_RETRYABLE',
    'GONE',
    'PLAN_LIMIT',
    'BATCH_TOO_LARGE',
    'ADDRESS_NOT_CONFIRMED',
    ...WORK_REJECTIONS,
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { params, headers, caller, admission } = request;
  const { accountId } = caller;
  const acceptedRetry = (batch: Batch) => {
    request.aboutJob(batch._id);
    const { status, json } = accepted(batch, deps.clock.now(), '/user/batches');
    return { status, json: { ...json, retryOf: params.id } };
  };
  return await idempotently(request, headers['Idempotency-Key'], deps.idempotency, {
    async run(lock) {
      const begun = lock?.resumed ? await deps.batches.resume(accountId, lock.workId) : undefined;
      if (begun !== undefined) return acceptedRetry(begun);
      const batch = await deps.batches.get({ accountId }, params.id);
      const as = withoutKey(caller, batch.test ? 'test' : 'live');
      requireConfirmedAddress(caller, as.mode, deps);
      assertAdmissible(caller.plan, deps);
      const submission = await deps.batches.retryOf(batch, caller, lock?.workId ?? newJobId());
      lock?.assertHeld();
      return acceptedRetry(await deps.batches.submit(as, submission, admission));
    },
    replay: async (batchId) => acceptedRetry(await deps.batches.get({ accountId }, batchId)),
  });
});

export const userBatchRoutes = [list, create, get, cancel, items, zip, manifest, retryFailed];

export async function userBatchBody(owner: BatchOwner, batchId: string, deps: ApiDeps) {
  const [body] = await batchBodies([await deps.batches.view(owner, batchId)], deps);
  return body!;
}

async function batchBodies(views: readonly BatchView[], deps: ApiDeps) {
  const keyFields = await keyFieldsOf(
    views.map(({ batch }) => batch),
    deps,
  );
  return views.map((view) => ({
    ...recordOf(view, deps),
    ...keyFields(view.batch),
    webhookUrl: view.batch.webhookUrl,
  }));
}
