import { z } from 'zod';
import type { ApiDeps } from '../api-deps.ts';
import { countedPaging } from '../request/paging-schema.ts';
import { periodParameter } from '../request/period-parameter.ts';
import { defineRoute } from '../request/route.ts';
import { requestLogListSchema } from './usage-schema.ts';

const list = defineRoute({
  method: 'get',
  path: '/user/request-logs',
  operationId: 'listRequestLogs',
  summary: 'List the requests for renders that the account has made',
  description:
    'With `status` or `endpoint`, a page may have fewer rows than its limit where such requests are rare: the next page begins at `offset` plus the number of rows received.',
  tags: ['Telemetry'],
  auth: 'bearer',
  query: z.strictObject({
    period: periodParameter,
    ...countedPaging,
    sort: z.enum(['created_desc', 'created_asc']).default('created_desc'),
    apiKeyId: z.uuid().toLowerCase().optional().describe('Only requests with this key.'),
    status: z.enum(['success', 'error']).optional().describe('Only requests with this outcome.'),
    endpoint: z
      .string()
      .regex(/^\/[\w/:-]{1,99}$/, 'must be one of endpointOptions')
      .optional()
      .describe('Only requests of this route, one of `endpointOptions`.'),
  }),
  responses: { 200: { description: 'One page of the log.', schema: requestLogListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { period, limit, offset, sort, apiKeyId, status, endpoint } = query;
  const { logs, ...found } = await deps.usage.requestLog(caller, {
    period,
    apiKeyId,
    status,
    endpoint,
    limit,
    offset,
    newestFirst: sort === 'created_desc',
  });
  const rows = logs.map(({ _id, createdAt, ...entry }) => ({
    id: _id,
    ...{ method: null, statusCode: null, durationMs: null, jobId: null },
    ...entry,
    createdAt: createdAt.toISOString(),
  }));
  return { status: 200, json: { ...found, limit, offset, logs: rows } };
});

export const requestLogRoutes = [list];
