import { z } from 'zod';
import { goneError } from '../../batches/batch-service.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { ApiParts } from '../api-parts.ts';
import { withPlace } from '../downloads.ts';
import { fileHeaders, signedLink } from '../job-files.ts';
import { defineRoute } from '../route.ts';
import { downloadUrlSchema } from '../schemas/download-url.ts';

const tags = ['Batches'];
const params = z.strictObject({ id: z.uuid().toLowerCase(), itemId: z.string().min(1).max(255) });

const item = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/:itemId',
  summary: 'Download the PDF of an item',
  tags,
  auth: 'apiKey',
  params,
  responses: { 200: { description: 'The PDF.', contentType: 'application/pdf' } },
  errors: ['NOT_FOUND', 'GONE', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, aboutJob }, parts: ApiParts) => {
  aboutJob(params.id);
  const batch = await parts.batches.get(caller, params.id);
  const job = await parts.batches.completedItem(batch, params.itemId);
  try {
    return await withPlace(parts.downloads.pdfs, caller.accountId, async () => {
      return { status: 200, body: await parts.renders.openOutput(job), headers: fileHeaders(job) } as const;
    });
  } catch (error) {
    // Deleted while it was asked for.
    if (error instanceof PlatenError && error.code === 'NOT_FOUND' && parts.batches.accessExpired(batch))
      throw goneError(batch);
    throw error;
  }
});

const downloadAddress = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/items/:itemId/download-url',
  summary: 'Get a signed address of the PDF of an item',
  tags,
  auth: 'apiKey',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async ({ params, caller, aboutJob }, parts: ApiParts) => {
  aboutJob(params.id);
  const batch = await parts.batches.get(caller, params.id);
  const job = await parts.batches.completedItem(batch, params.itemId);
  return { status: 200, json: { success: true, ...signedLink(job, parts, batch.expiresAt) } };
});

/** After all others below `/v1/pdf/batch/:id`, since an item's id may be anything. */
export const batchItemRoutes = [downloadAddress, item];
