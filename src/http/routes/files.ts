import { z } from 'zod';
import { PlatenError } from '../../errors/registry.ts';
import type { ApiParts } from '../api-parts.ts';
import { fileHeaders } from '../job-files.ts';
import { defineRoute } from '../route.ts';

const signedFile = defineRoute({
  method: 'get',
  path: '/v1/files/:token',
  summary: 'Download a PDF by its signed address',
  tags: ['Files'],
  auth: 'none',
  params: z.strictObject({ token: z.string().max(1024) }),
  responses: { 200: { description: 'The PDF.', contentType: 'application/pdf' } },
  errors: ['NOT_FOUND', 'UNAVAILABLE'],
}).handledBy(async ({ params, aboutJob }, parts: ApiParts) => {
  const target = parts.links.verify(params.token, parts.clock.now());
  if (target === undefined) throw new PlatenError('NOT_FOUND', 'The address is not valid, or no longer.');
  aboutJob(target.jobId);
  const job = await parts.renders.get(target.accountId, target.jobId);
  return { status: 200, body: await parts.renders.openOutput(job), headers: fileHeaders(job) };
});

export const fileRoutes = [signedFile];
