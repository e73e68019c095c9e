import { z } from 'zod';
import { manifestStream } from '../../batches/manifest.ts';
import { PlatenError } from '../../errors/registry.ts';
import { networkOf } from '../../limits/network-of.ts';
import { LINKED_PER_WINDOW } from '../../limits/rate-limiter.ts';
import type { LinkKind, LinkTarget } from '../../orders/download-links.ts';
import { contentDisposition } from '../../pdf/file-name.ts';
import type { ApiParts } from '../api-parts.ts';
import { withPlace } from '../downloads.ts';
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
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
}).handledBy(async ({ params, clientAddress, aboutJob }, parts: ApiParts) => {
  const target = targetOf(params.token, 'pdf', parts);
  const { accountId, jobId } = target;
  const network = networkOf(clientAddress);
  aboutJob(jobId);
  await limitRate(target, network, parts);
  const send = async () => {
    const job = await parts.renders.ofAccount(accountId, jobId);
    return { status: 200, body: await parts.renders.openOutput(job), headers: fileHeaders(job) } as const;
  };
  const { linked, linkedByNetwork } = parts.downloads;
  return await withPlace(linkedByNetwork, `${accountId} ${network}`, () =>
    withPlace(linked, accountId, send),
  );
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
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
}).handledBy(async ({ params, clientAddress, aboutJob }, parts: ApiParts) => {
  const target = targetOf(params.token, 'manifest', parts);
  aboutJob(target.jobId);
  await limitRate(target, networkOf(clientAddress), parts);
  return await withPlace(parts.downloads.manifests, target.accountId, async () => {
    const batch = await parts.batches.ofAccount(target.accountId, target.jobId);
    const disposition = contentDisposition(`${batch._id}.json`, 'attachment');
    return {
      status: 200,
      body: { stream: manifestStream(batch, parts.batchFiles.items(batch)) },
      headers: { 'Content-Disposition': disposition },
    } as const;
  });
});

export const fileRoutes = [signedFile, signedManifest];

/** @throws PlatenError RATE_LIMITED when this network has asked for the file too often in this minute. */
async function limitRate({ jobId }: LinkTarget, network: string, { limiter }: ApiParts): Promise<void> {
  const { allowed, resetMs } = await limiter.takeLinked(jobId, network);
  if (allowed) return;
  const message = `From one network a file is sent ${LINKED_PER_WINDOW} times a minute by signed addresses.`;
  throw new PlatenError('RATE_LIMITED', message, { retryAfterSeconds: resetMs / 1000 });
}

/** @throws PlatenError NOT_FOUND unless the token leads to a file of this kind. */
function targetOf(token: string, kind: LinkKind, { links, clock }: ApiParts): LinkTarget {
  const target = links.verify(token, clock.now());
  if (target?.kind !== kind) throw new PlatenError('NOT_FOUND', 'The address is not valid, or no longer.');
  return target;
}
