import { z } from 'zod';
import { addressesOf } from '../../tenants/accounts/addresses.ts';
import { type ListedLink, MOST_LINKS } from '../../work/jobs/submission/shared-links.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { fileAddress } from './job-files.ts';
import { requestedJob } from './requested-work.ts';

const defineRoute = routesOf({ tags: ['Renders'], auth: 'bearer' });
const time = z.iso.datetime();
const jobId = z.uuid().toLowerCase();

const sharedLink = {
  id: z.uuid().describe('By which it is revoked.'),
  url: z.string().describe('No key is needed for it.'),
  expiresAt: time.describe('The end of the PDF, if that is earlier than was asked for.'),
};

const listedLink = z
  .strictObject({
    ...sharedLink,
    createdAt: time,
    createdBy: z.string().nullable().describe('The address of whoever made it; null if it is not known.'),
    lastOpenedAt: time.nullable().describe('To the minute; null if nobody has opened it.'),
  })
  .meta({ id: 'ListedLink' });

const share = defineRoute('POST /user/renders/:id/share', {
  right: 'develop',
  operationId: 'shareUserRender',
  summary: 'Make a link by which anybody can download the PDF of a render',
  description: `The link ends at its time, when it is revoked, or with the PDF if that is deleted earlier. A PDF has at most ${MOST_LINKS} links.`,
  params: z.strictObject({ id: jobId }),
  body: z
    .strictObject({
      hours: z
        .int()
        .min(1)
        .max(24 * 366)
        .optional()
        .describe('For how long it is valid. Default and maximum: as long as the PDF is kept.'),
    })
    .meta({ id: 'ShareRequest' }),
  responses: {
    201: { description: 'The link.', schema: z.strictObject(sharedLink).meta({ id: 'SharedLink' }) },
  },
  errors: ['NOT_FOUND', 'PLAN_LIMIT', 'UNAVAILABLE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const by = byPerson(request.caller, request.clientAddress);
  const link = await deps.sharedLinks.create(job, request.body.hours, by);
  return { status: 201, json: linkBody(link, deps) };
});

const list = defineRoute('GET /user/renders/:id/shares', {
  right: 'develop',
  operationId: 'listRenderShares',
  summary: 'List the links to the PDF of a render',
  description: 'Those that neither have ended nor were revoked, the newest first.',
  params: z.strictObject({ id: jobId }),
  responses: {
    200: {
      description: 'The links.',
      schema: z
        .strictObject({ links: z.array(listedLink).max(MOST_LINKS).describe('The newest first.') })
        .meta({ id: 'SharedLinks' }),
    },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const { takenOverAt } = request.caller.session.account;
  const found = await deps.sharedLinks.list(job, takenOverAt ?? null);
  const addresses = await addressesOf(
    deps.accounts,
    found.map(({ personId }) => personId),
  );
  const links = found.map((link) => ({
    ...linkBody(link, deps),
    createdAt: link.createdAt.toISOString(),
    createdBy: addresses.get(link.personId) ?? null,
    lastOpenedAt: link.lastOpenedAt?.toISOString() ?? null,
  }));
  return { status: 200, json: { links } };
});

const revoke = defineRoute('DELETE /user/renders/:id/shares/:shareId', {
  right: 'develop',
  operationId: 'revokeRenderShare',
  summary: 'Revoke a link to the PDF of a render',
  description: 'Nobody can download by it any more. Downloads that have begun go on.',
  params: z.strictObject({ id: jobId, shareId: z.uuid().toLowerCase() }),
  responses: { 200: { description: 'The link does nothing any more.', schema: successSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const by = byPerson(request.caller, request.clientAddress);
  await deps.sharedLinks.revoke(job, request.params.shareId, by);
  return { status: 200, json: { success: true } };
});

export const shareRoutes = [share, list, revoke];

function linkBody({ id, token, expiresAt }: ListedLink, { publicUrl }: Pick<ApiDeps, 'publicUrl'>) {
  return { id, url: fileAddress(publicUrl(), token), expiresAt: expiresAt.toISOString() };
}
