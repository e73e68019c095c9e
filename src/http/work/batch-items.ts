import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import { goneError } from '../../work/batches/batch-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { downloadUrlSchema } from './download-url-schema.ts';
import { fileHeaders, signedLink } from './job-files.ts';
import { requestedBatch } from './requested-work.ts';

const defineRoute = routesOf({ tags: ['Batches'], auth: 'apiKey' });
const params = z.strictObject({ id: z.uuid().toLowerCase(), itemId: z.string().min(1).max(255) });

const item = defineRoute('GET /v1/pdf/batch/:id/:itemId', {
  operationId: 'downloadBatchItemPdf',
  summary: 'Download the PDF of an item',
  params,
  responses: { 200: { description: 'The PDF.', contentType: PDF } },
  errors: ['NOT_FOUND', 'GONE', 'TOO_MANY_WAITING'],
}).handledBy(async (request, deps: ApiDeps) => {
  const batch = await requestedBatch(request, deps);
  const job = await deps.batches.completedItem(batch, request.params.itemId);
  try {
    return await withDownload(deps.downloads.pdfs, job.accountId, async () => {
      return { status: 200, body: await deps.renders.openOutput(job), headers: fileHeaders(job) } as const;
    });
  } catch (error) {
    // The output was deleted during the request.
    if (error instanceof PlatenError && error.code === 'NOT_FOUND' && deps.batches.accessExpired(batch))
      throw goneError(batch);
    throw error;
  }
});

const downloadAddress = defineRoute('GET /v1/pdf/batch/:id/items/:itemId/download-url', {
  operationId: 'getBatchItemDownloadUrl',
  summary: 'Get a signed address of the PDF of an item',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const batch = await requestedBatch(request, deps);
  const job = await deps.batches.completedItem(batch, request.params.itemId);
  return { status: 200, json: { success: true, ...(await signedLink(job, deps, batch.expiresAt)) } };
});

/** To be registered after all other routes below `/v1/pdf/batch/:id`, since an item may have any id. */
export const batchItemRoutes = [downloadAddress, item];
