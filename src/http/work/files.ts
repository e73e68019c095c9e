import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import { networkOf } from '../../tenants/limits/network-of.ts';
import { LINKED_PER_WINDOW } from '../../tenants/limits/rate-limiter.ts';
import { LINK_LIFE_MS, type LinkKind, type LinkTarget } from '../../work/jobs/submission/download-links.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { MANIFEST_RESPONSES, sendManifest } from './batch-manifest.ts';
import { fileHeaders } from './job-files.ts';

const defineRoute = routesOf({ tags: ['Files'], auth: 'none' });

const params = z.strictObject({ token: z.string().max(1024) });

const signedFile = defineRoute('GET /v1/files/:token', {
  operationId: 'downloadSignedFile',
  summary: 'Download a PDF by its signed address',
  params,
  responses: { 200: { description: 'The PDF.', contentType: PDF } },
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
}).handledBy(async ({ params, clientAddress, aboutJob }, deps: ApiDeps) => {
  const target = await targetOf(params.token, 'pdf', deps);
  const { accountId, jobId } = target;
  const network = networkOf(clientAddress);
  aboutJob(jobId);
  await limitRate(target, network, deps);
  const send = async () => {
    const job = await deps.renders.get({ accountId }, jobId);
    await deps.sharedLinks.open(job, target.linkId);
    return { status: 200, body: await deps.renders.openOutput(job), headers: fileHeaders(job) } as const;
  };
  const { linked, linkedByNetwork } = deps.downloads;
  return await withDownload(linkedByNetwork, `${accountId} ${network}`, () =>
    withDownload(linked, accountId, send),
  );
});

const signedManifest = defineRoute('GET /v1/files/:token/manifest', {
  operationId: 'downloadSignedManifest',
  summary: 'Download the manifest of a batch by its signed address',
  params,
  responses: MANIFEST_RESPONSES,
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
}).handledBy(async ({ params, clientAddress, aboutJob }, deps: ApiDeps) => {
  const target = await targetOf(params.token, 'manifest', deps);
  aboutJob(target.jobId);
  await limitRate(target, networkOf(clientAddress), deps);
  return await sendManifest(target, target.jobId, deps);
});

export const fileRoutes = [signedFile, signedManifest];

/** @throws PlatenError RATE_LIMITED when this network has requested the file too often in this minute. */
async function limitRate({ jobId }: LinkTarget, network: string, { limiter }: ApiDeps): Promise<void> {
  const { allowed, resetMs } = await limiter.takeLinked(jobId, network);
  if (allowed) return;
  const message = `From one network a file is sent ${LINKED_PER_WINDOW} times a minute by signed addresses.`;
  throw new PlatenError('RATE_LIMITED', message, { retryAfterSeconds: resetMs / 1000 });
}

/** @throws PlatenError NOT_FOUND unless the token is for a file of this kind and of the account's present owner. */
async function targetOf(
  token: string,
  kind: LinkKind,
  { links, accounts, clock }: ApiDeps,
): Promise<LinkTarget> {
  const target = links.verify(token, clock.now());
  const { takenOverAt } = (target && (await accounts.find(target.accountId))) ?? {};
  if (target?.kind !== kind || isOlder(target, takenOverAt?.getTime() ?? 0))
    throw new PlatenError('NOT_FOUND', 'The address is not valid, or no longer.');
  return target;
}

/** Whether a link was made before the account had its present owner. */
function isOlder({ expiresAt, sharedAt }: LinkTarget, takenOverAt: number): boolean {
  return sharedAt === undefined ? expiresAt < takenOverAt + LINK_LIFE_MS : sharedAt < takenOverAt;
}
