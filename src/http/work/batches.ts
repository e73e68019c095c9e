import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { safeFileName } from '../../infra/outputs/file-name.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { BATCH_STATUSES, type Batch, MAX_LISTED_ITEMS } from '../../work/batches/batch.ts';
import type { BatchSubmission, ItemSubmission } from '../../work/batches/batch-admission.ts';
import { itemRecord } from '../../work/batches/batch-item.ts';
import { batchRecord, estimatedCompletion } from '../../work/batches/batch-record.ts';
import type { BatchOwner, BatchView } from '../../work/batches/batch-service.ts';
import type { IdempotencyLock } from '../../work/jobs/idempotency-store.ts';
import { newJobId } from '../../work/jobs/new-job.ts';
import type { ApiDeps } from '../api-deps.ts';
import { pagingByTime, queryInteger } from '../request/paging-schema.ts';
import { type AnyRequest, routesOf } from '../request/route.ts';
import {
  acceptedBatchSchema,
  type BatchRequest,
  batchErrors,
  batchListSchema,
  batchRecordSchema,
  batchRequestSchema,
  nameItem,
} from './batch-schema.ts';
import { checkSealKeys } from './check-seal-keys.ts';
import { checkUpload, checkWebhook } from './check-webhook.ts';
import { itemOptions } from './effective-options.ts';
import { withInvoices } from './einvoices.ts';
import { idempotently, type KeyedRequest } from './idempotency.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from './idempotency-schema.ts';
import { itemSources } from './render-source.ts';
import { assertAdmissible, SUBMISSION_ERRORS } from './render-submission.ts';
import { sourceSubmissionOf } from './source-submission.ts';
import { uploadFieldsOf } from './upload-fields.ts';

const defineRoute = routesOf({ tags: ['Batches'], auth: 'apiKey' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });
/** Items in the response with a batch. Default and maximum. */
const MAX_ITEMS = 1000;

const create = defineRoute('POST /v1/pdf/batch', {
  operationId: 'createBatch',
  summary: 'Render many documents in one batch',
  description:
    'All items are checked together, and either all are accepted or none. The response comes before any of them is rendered: poll `statusUrl`, or give a `webhookUrl`.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: batchRequestSchema,
  precheckBody: checkItemCount,
  bodyErrors: batchErrors,
  describeError: nameItem,
  responses: {
    202: {
      description: 'Accepted; follow the batch.',
      schema: acceptedBatchSchema,
      headers: REPLAYED_HEADER,
      links: {
        operations: ['GET /v1/pdf/batch/:id', 'DELETE /v1/pdf/batch/:id'],
        names: { id: { field: 'jobId' } },
      },
    },
  },
  errors: ['BATCH_TOO_LARGE', 'TOO_MANY_WAITING', ...SUBMISSION_ERRORS],
}).handledBy(async (request, deps: ApiDeps) => await createBatch(request, request, deps));

const list = defineRoute('GET /v1/pdf/batch', {
  operationId: 'listBatches',
  summary: 'List the batches of the account',
  query: z.strictObject({
    status: z.enum(BATCH_STATUSES).optional().describe('Only batches in this state.'),
    ...pagingByTime,
  }),
  responses: { 200: { description: 'One page of batches, without their items.', schema: batchListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { limit, offset, status, sort } = query;
  const { total, views } = await deps.batches.list(caller, {
    limit,
    offset,
    newestFirst: sort === 'created_desc',
    ...(status && { status }),
  });
  const batches = views.map((view) => recordOf(view, deps));
  return { status: 200, json: { total, limit, offset, batches } };
});

const get = defineRoute('GET /v1/pdf/batch/:id', {
  operationId: 'getBatch',
  summary: 'Get the status of a batch',
  description:
    'The response contains the items, in order: the first 1,000 of them, unless `limit` and `offset` select others.',
  params,
  query: z.strictObject({
    limit: queryInteger(0, MAX_ITEMS, MAX_ITEMS).describe('How many items to return.'),
    offset: queryInteger(0, 1_000_000, 0).describe('How many items to skip.'),
  }),
  responses: { 200: { description: 'The batch.', schema: batchRecordSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, query, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  return { status: 200, json: await withItems(caller, params.id, query, deps) };
});

const cancel = defineRoute('DELETE /v1/pdf/batch/:id', {
  operationId: 'cancelBatch',
  withoutRoom: 'confirmed',
  summary: 'Cancel a batch',
  description: 'Items that no worker has begun are cancelled. Running items are left to finish.',
  params,
  responses: { 200: { description: 'The batch, with its first items.', schema: batchRecordSchema } },
  errors: ['NOT_FOUND', 'JOB_ENDED'],
}).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  await deps.batches.cancel(caller, params.id);
  return { status: 200, json: await withItems(caller, params.id, { offset: 0, limit: MAX_ITEMS }, deps) };
});

export const batchRoutes = [create, list, get, cancel];

interface CreatingRequest extends KeyedRequest, Pick<AnyRequest, 'aboutJob' | 'admission'> {
  readonly headers: { readonly 'Idempotency-Key'?: string | undefined };
}

/**
 * Admits a batch whole, or repeats the response to an earlier request with the same key.
 *
 * @param wanted the batch, and in whose name it is rendered.
 * @param base of the address of its status.
 * @throws PlatenError as its parts do, then nothing is admitted.
 */
export async function createBatch(
  request: CreatingRequest,
  { body, caller }: { readonly body: BatchRequest; readonly caller: Caller },
  deps: ApiDeps,
  base?: string,
) {
  const { headers, admission, aboutJob } = request;
  return await idempotently(request, headers['Idempotency-Key'], deps.idempotency, {
    async run(lock) {
      const begun = lock?.resumed ? await deps.batches.resume(caller.accountId, lock.workId) : undefined;
      const batch = begun ?? (await submit({ body, caller, admission }, deps, lock));
      aboutJob(batch._id);
      return accepted(batch, deps.clock.now(), base);
    },
    async replay(batchId) {
      aboutJob(batchId);
      return accepted(await deps.batches.get(caller, batchId), deps.clock.now(), base);
    },
  });
}

async function submit(
  { body, caller, admission }: { body: BatchRequest; caller: Caller; admission: PendingAdmission },
  deps: ApiDeps,
  lock: IdempotencyLock | undefined,
): Promise<Batch> {
  assertAdmissible(caller.plan, deps);
  const batchId = lock?.workId ?? newJobId();
  if (body.source !== undefined) {
    checkAround(body, caller, deps);
    const submission = await sourceSubmissionOf({ ...body, source: body.source }, caller, deps, batchId);
    lock?.assertHeld();
    return await deps.batches.submitSource(caller, submission, admission);
  }
  const submission = await submissionOf({ ...body, items: body.items! }, caller, deps, batchId);
  lock?.assertHeld();
  return await deps.batches.submit(caller, submission, admission);
}

/** @throws PlatenError for what the plan does not allow, an unknown template, or options that clash with its own. */
async function submissionOf(
  body: BatchRequest & { readonly items: NonNullable<BatchRequest['items']> },
  caller: Caller,
  deps: ApiDeps,
  batchId: string,
): Promise<BatchSubmission> {
  checkAround(body, caller, deps);
  const sources = await itemSources(body.items, caller, deps);
  const optionsOf = itemOptions({ mode: caller.mode, checkUrl: deps.checkUrl });
  const items = body.items.map((item, index): ItemSubmission => {
    const { uploadUrl } = item;
    checkUpload(uploadUrl, caller.plan, deps, nameItem(`items[${index}].uploadUrl`, body));
    const fallback = `document-${String(index + 1).padStart(String(body.items.length).length, '0')}`;
    return {
      id: item.id,
      fileName: safeFileName(item.filename ?? item.id, fallback),
      source: sources[index]!.source,
      options: optionsOf(item, sources[index]!.savedOptions, nameItem(`items[${index}].options`, body)),
      ...(uploadUrl !== undefined && { uploadUrl }),
    };
  });
  checkTimeouts(items, caller.plan);
  const nameOptions = (index: number) => nameItem(`items[${index}].options`, body);
  const asked = items.map(({ options }, index) => ({ options, path: () => nameOptions(index) }));
  await checkSealKeys(asked, caller, deps);
  return {
    batchId,
    items: await withInvoices(items, caller, deps, nameOptions),
    notes: body.notes ?? '',
    metadata: body.metadata ?? {},
    webhookUrl: body.webhookUrl ?? null,
    retentionHours: body.expiresInHours ?? caller.plan.retentionHours,
  };
}

/** Called before the items are validated, so that the plan's number of items bounds the time of validation. */
export function checkItemCount(body: unknown, { maxBatchItems }: Plan): void {
  const { items } = (body ?? {}) as { readonly items?: unknown };
  if (!Array.isArray(items)) return;
  const most = Math.min(maxBatchItems, MAX_LISTED_ITEMS);
  if (items.length <= most) return;
  const limit =
    most === maxBatchItems
      ? `the plan allows ${most} in a batch`
      : `a request may list ${most}; more are rendered from a file, by source`;
  throw new PlatenError('BATCH_TOO_LARGE', `items: there are ${items.length}; ${limit}.`);
}

/** Checks what does not concern the documents. */
function checkAround(body: BatchRequest, { plan }: Caller, deps: ApiDeps): void {
  checkRetention(body, plan);
  checkWebhook(body.webhookUrl, plan, deps);
}

function checkRetention({ expiresInHours = 0 }: BatchRequest, plan: Plan): void {
  if (expiresInHours <= plan.retentionHours) return;
  throw new PlatenError(
    'PLAN_LIMIT',
    plan.retentionHours === 0
      ? 'expiresInHours: the plan keeps no outputs. Leave it out, or set it to 0.'
      : `expiresInHours: the plan keeps outputs for ${plan.retentionHours} hours.`,
  );
}

function checkTimeouts(items: readonly ItemSubmission[], plan: Plan): void {
  const long = items.findIndex(({ options }) => (options.timeoutMs ?? 0) > plan.maxTimeoutMs);
  if (long >= 0) {
    const field = nameItem(`items[${long}].options.timeoutMs`, { items });
    throw new PlatenError('PLAN_LIMIT', `${field}: the plan allows at most ${plan.maxTimeoutMs}.`);
  }
}

/** The response to an accepted batch. @param base path of the batches of the caller. */
export function accepted(batch: Batch, now: Date, base = '/v1/pdf/batch') {
  const { _id: jobId, total, expiresAt } = batch;
  return {
    status: 202,
    json: {
      jobId,
      status: 'queued',
      itemCount: total,
      totalCount: total,
      statusUrl: `${base}/${jobId}`,
      estimatedCompletionTime: (estimatedCompletion(batch, now) ?? now).toISOString(),
      expiresAt: expiresAt.toISOString(),
    },
  } as const;
}

/** The response fields of a batch with some of its items. */
export async function withItems(
  owner: BatchOwner,
  batchId: string,
  range: { readonly offset: number; readonly limit: number },
  deps: ApiDeps,
) {
  const view = await deps.batches.view(owner, batchId);
  const items = await deps.batches.items(view.batch, range);
  const uploads = await uploadFieldsOf(
    items.flatMap(({ job }) => job ?? []),
    deps,
  );
  return {
    ...recordOf(view, deps),
    items: items.map((item) => ({ ...itemRecord(view.batch, item), ...uploads(item.job) })),
  };
}

/** The response fields of a batch, without its items. */
export function recordOf(view: BatchView, { batches, clock }: ApiDeps) {
  return batchRecord(view, batches.accessExpired(view.batch), clock.now());
}
