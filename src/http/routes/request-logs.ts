import { z } from 'zod';
import type { ApiParts } from '../api-parts.ts';
import { defineRoute } from '../route.ts';
import { countedPaging } from '../schemas/paging.ts';
import { periodParameter, requestLogListSchema } from '../schemas/usage.ts';

const list = defineRoute({
  method: 'get',
  path: '/user/request-logs',
  summary: 'List the requests for renders that the account has made',
  tags: ['Telemetry'],
  auth: 'bearer',
  query: z.strictObject({
    period: periodParameter,
    ...countedPaging,
    sort: z.enum(['created_desc', 'created_asc']).default('created_desc'),
    apiKeyId: z.uuid().toLowerCase().optional().describe('Only requests with this key.'),
  }),
  responses: { 200: { description: 'One page of the log.', schema: requestLogListSchema } },
}).handledBy(async ({ query, caller }, parts: ApiParts) => {
  const { period, limit, offset, sort, apiKeyId } = query;
  const { logs, ...found } = await parts.usage.requestLog(caller, {
    period,
    apiKeyId,
    limit,
    offset,
    newestFirst: sort === 'created_desc',
  });
  const rows = logs.map(({ _id, createdAt, ...entry }) => ({
    id: _id,
    ...entry,
    createdAt: createdAt.toISOString(),
  }));
  return { status: 200, json: { ...found, limit, offset, logs: rows } };
});

export const requestLogRoutes = [list];
