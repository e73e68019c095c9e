import { z } from 'zod';
import { manifestStream } from '../../batches/manifest.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { LinkKind, LinkTarget } from '../../orders/download-links.ts';
import { contentDisposition } from '../../pdf/file-name.ts';
import type { ApiParts } from '../api-parts.ts';
import { withPlace } from '../batch-downloads.ts';
import { fileHeaders } from '../job-files.ts';
import { defineRoute } from '../route.ts';

const params = z.strictObject({ token: z.string().max(1024) });

const signedFile = defineRoute({
  method: 'get',
  path: '/v1/files/:token',
  summary: 'Download a PDF by its signed address',
  tags: ['Files'],
  auth: 'none',
  params,
  responses: { 200: { description: 'The PDF.', contentType: 'application/pdf' } },
  errors: ['NOT_FOUND', 'UNAVAILABLE'],
}).handledBy(async ({ params, aboutJob }, parts: ApiParts) => {
  const target = targetOf(params.token, 'pdf', parts);
  aboutJob(target.jobId);
  const job = await parts.renders.ofAccount(target.accountId, target.jobId);
  return { status: 200, body: await parts.renders.openOutput(job), headers: fileHeaders(job) };
});

const signedManifest = defineRoute({
  method: 'get',
  path: '/v1/files/:token/manifest',
  summary: 'Download the manifest of a batch by its signed address',
  tags: ['Files'],
  auth: 'none',
  params,
  responses: {
    200: {
      description: 'JSON: jobId, createdAt and what became of each item.',
      contentType: 'application/json',
    },
  },
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
}).handledBy(async ({ params, aboutJob }, parts: ApiParts) => {
  const target = targetOf(params.token, 'manifest', parts);
  aboutJob(target.jobId);
  return await withPlace(parts.batchDownloads.manifests, target.accountId, async (place) => {
    const batch = await parts.batches.ofAccount(target.accountId, target.jobId);
    const disposition = contentDisposition(`${batch._id}.json`, 'attachment');
    return {
      status: 200,
      body: { stream: place.hold(manifestStream(batch, parts.batchFiles.items(batch))) },
      headers: { 'Content-Disposition': disposition },
    } as const;
  });
});

export const fileRoutes = [signedFile, signedManifest];

/** @throws PlatenError NOT_FOUND unless the token leads to a file of this kind. */
function targetOf(token: string, kind: LinkKind, { links, clock }: ApiParts): LinkTarget {
  const target = links.verify(token, clock.now());
  if (target?.kind !== kind) throw new PlatenError('NOT_FOUND', 'The address is not valid, or no longer.');
  return target;
}
