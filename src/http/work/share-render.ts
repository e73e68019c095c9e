import { z } from 'zod';
import { byAccount } from '../../tenants/audit/audit-log.ts';
import { shareOutput } from '../../work/jobs/submission/share-output.ts';
import type { ApiDeps } from '../api-deps.ts';
import { defineRoute } from '../request/route.ts';
import { fileAddress } from './job-files.ts';
import { requestedJob } from './requested-work.ts';

const share = defineRoute({
  method: 'post',
  path: '/user/renders/:id/share',
  operationId: 'shareUserRender',
  summary: 'Make a link by which anybody can download the PDF of a render',
  description:
    'The link ends at its time, or with the PDF if that is deleted earlier. It cannot be taken back before.',
  tags: ['Renders'],
  auth: 'bearer',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
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
    201: {
      description: 'The link.',
      schema: z
        .strictObject({
          url: z.string().describe('No key is needed for it.'),
          expiresAt: z.iso.datetime().describe('The end of the PDF, if that is earlier than was asked for.'),
        })
        .meta({ id: 'SharedLink' }),
    },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const by = byAccount(request.clientAddress);
  const { token, expiresAt } = await shareOutput(job, request.body.hours, by, deps);
  const url = fileAddress(deps.publicUrl(), token);
  return { status: 201, json: { url, expiresAt: expiresAt.toISOString() } };
});

export const shareRoutes = [share];
