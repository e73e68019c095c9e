import { z } from 'zod';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { BatchOwner } from '../../work/batches/batch-service.ts';
import { MAX_SOURCE_BYTES } from '../../work/batches/source/source-files.ts';
import { newJobId } from '../../work/jobs/new-job.ts';
import type { ApiDeps } from '../api-deps.ts';
import { withoutKey } from '../request/authenticate-bearer.ts';
import { type AnyRequest, routesOf, type StreamBody } from '../request/route.ts';
import { batchRecordSchema } from './batch-schema.ts';
import { withItems } from './batches.ts';
import { userBatchSchema } from './user-batch-schema.ts';
import { userBatchBody } from './user-batches.ts';

const defineRoute = routesOf({ tags: ['Batches'], auth: 'apiKey' });
const defineUserRoute = routesOf({ tags: ['Batches of the account'], auth: 'bearer', right: 'develop' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });
/** Items in the response with a batch. */
const SHOWN_ITEMS = 1000;

const uploadedSchema = z
  .strictObject({
    id: z.uuid().describe('For `source.upload`.'),
    bytes: z.int().min(0).describe('Of the file.'),
    expiresAt: z.iso.datetime().describe('Until when a batch can be made of it.'),
  })
  .meta({ id: 'BatchUpload' });

const FILE: StreamBody = {
  mediaTypes: ['text/csv', 'application/x-ndjson'],
  description: 'The file itself, in UTF-8 and not compressed.',
  maxBytes: MAX_SOURCE_BYTES,
};
const UPLOADED = { 201: { description: 'The file is stored.', schema: uploadedSchema } } as const;
const UPLOAD_ERRORS = [
  'INPUT_TOO_LARGE',
  'STORAGE_FULL',
  'TOO_MANY_UPLOADS',
  'UPLOAD_TOO_SLOW',
  'UNSUPPORTED_MEDIA_TYPE',
] as const;
const UPLOAD = {
  summary: 'Upload the file of a batch',
  description:
    'A file whose rows are to be rendered: `source.upload` of a batch names it. It is stored as it arrives, and deleted once it is read, or after a day.',
} as const;

/** What an owner may decide about a batch with a source. */
const ORDERS = {
  release: {
    order: 'release',
    operation: 'release',
    summary: 'Release a batch after its proof',
    description: 'The rows after those of the proof are rendered as well.',
  },
  pause: {
    order: 'pause',
    operation: 'pause',
    summary: 'Pause a batch with a source',
    description: 'No further row is read. Rows that are items already are rendered: a few hundred at most.',
  },
  resume: {
    order: 'goOn',
    operation: 'resume',
    summary: 'Resume a paused batch',
    description: 'Its file is read on, from the row after the last one that became an item.',
  },
} as const;

const upload = defineRoute('POST /v1/pdf/batch/uploads', {
  operationId: 'uploadBatchSource',
  ...UPLOAD,
  streamBody: FILE,
  responses: UPLOADED,
  errors: UPLOAD_ERRORS,
}).handledBy(async (request, deps: ApiDeps) => await keepUpload(request.caller, request, deps));

const userUpload = defineUserRoute('POST /user/batches/uploads', {
  right: 'develop',
  operationId: 'uploadUserBatchSource',
  ...UPLOAD,
  query: z.strictObject({
    mode: z
      .enum(['live', 'test'])
      .default('test')
      .describe('The mode of the batch that is to be made of it.'),
  }),
  streamBody: FILE,
  responses: UPLOADED,
  errors: UPLOAD_ERRORS,
}).handledBy(
  async (request, deps: ApiDeps) =>
    await keepUpload(withoutKey(request.caller, request.query.mode), request, deps),
);

const directing = Object.entries(ORDERS).map(([name, { order, operation, ...told }]) =>
  defineRoute(`POST /v1/pdf/batch/:id/${name}`, {
    operationId: `${operation}Batch`,
    ...told,
    params,
    responses: { 200: { description: 'The batch, with its first items.', schema: batchRecordSchema } },
    errors: ['NOT_FOUND', 'WRONG_STATE'],
  }).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
    aboutJob(params.id);
    await deps.batches.direct(caller, params.id, order);
    return {
      status: 200,
      json: await withItems(caller, params.id, { offset: 0, limit: SHOWN_ITEMS }, deps),
    };
  }),
);

const userDirecting = Object.entries(ORDERS).map(([name, { order, operation, ...told }]) =>
  defineUserRoute(`POST /user/batches/:id/${name}`, {
    right: 'develop',
    operationId: `${operation}UserBatch`,
    ...told,
    params,
    responses: { 200: { description: 'The batch.', schema: userBatchSchema } },
    errors: ['NOT_FOUND', 'WRONG_STATE'],
  }).handledBy(async ({ params, caller, aboutJob }, deps: ApiDeps) => {
    aboutJob(params.id);
    const owner: BatchOwner = caller;
    await deps.batches.direct(owner, params.id, order);
    return { status: 200, json: await userBatchBody(owner, params.id, deps) };
  }),
);

/** To be registered before the routes below `/v1/pdf/batch/:id`. */
export const batchSourceRoutes = [upload, ...directing];
export const userBatchSourceRoutes = [userUpload, ...userDirecting];

async function keepUpload(
  { accountId, mode, plan }: Pick<Caller, 'accountId' | 'mode' | 'plan'>,
  { parts }: Pick<AnyRequest, 'parts'>,
  { sourceFiles }: ApiDeps,
) {
  const file = { _id: newJobId(), accountId, test: mode === 'test' };
  const { _id: id, bytes, dueAt } = await sourceFiles.keep(file, plan.maxStoredBytes, parts());
  return { status: 201, json: { id, bytes, expiresAt: dueAt!.toISOString() } } as const;
}
