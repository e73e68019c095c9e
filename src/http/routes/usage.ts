import { z } from 'zod';
import type { ApiParts } from '../api-parts.ts';
import { defineRoute } from '../route.ts';
import { queryBoolean } from '../schemas/paging.ts';
import { periodParameter, usageSummarySchema } from '../schemas/usage.ts';

const usage = defineRoute({
  method: 'get',
  path: '/user/usage',
  summary: 'Get the usage summary of the account',
  tags: ['Telemetry'],
  auth: 'bearer',
  query: z.strictObject({
    period: periodParameter,
    includeBreakdown: queryBoolean(false).describe('`true` adds what each API key was used for.'),
  }),
  responses: { 200: { description: 'The summary.', schema: usageSummarySchema } },
}).handledBy(async ({ query, caller }, parts: ApiParts) => {
  return { status: 200, json: await parts.usage.summary(caller, query.period, query.includeBreakdown) };
});

export const usageRoutes = [usage];
