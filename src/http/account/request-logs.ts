import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { RequestDetails } from '../../tenants/usage/request-details.ts';
import type { RequestLogEntry } from '../../tenants/usage/request-log.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { countedPaging } from '../request/paging-schema.ts';
import { periodParameter } from '../request/period-parameter.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { loggedRequestSchema, requestDetailsSettingSchema, requestLogListSchema } from './usage-schema.ts';

const defineRoute = routesOf({ tags: ['Telemetry'], auth: 'bearer' });

const list = defineRoute('GET /user/request-logs', {
  right: 'read',
  operationId: 'listRequestLogs',
  summary: 'List the requests for renders that the account has made',
  description:
    'With `status` or `endpoint`, a page may have fewer rows than its limit where such requests are rare: the next page begins at `offset` plus the number of rows received.',
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
  const setting = {
    detailsKept: caller.session.account.withoutRequestDetails !== true,
    detailsKeptHours: caller.plan.retentionHours,
  };
  return { status: 200, json: { ...found, ...setting, limit, offset, logs: logs.map(entryBody) } };
});

const get = defineRoute('GET /user/request-logs/:id', {
  right: 'read',
  operationId: 'getRequestLog',
  summary: 'Get a request of the log with its headers and bodies',
  description:
    'Headers and bodies are kept for as long as the plan keeps PDFs, unless the account has that turned off. Some may be missing after a moment with very many requests.',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  responses: { 200: { description: 'The request.', schema: loggedRequestSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, { usage }: ApiDeps) => {
  const found = await usage.loggedRequest(caller, params.id);
  if (found === undefined) throw new PlatenError('NOT_FOUND', `There is no request ${params.id} in the log.`);
  const { entry, details } = found;
  const isShown = caller.session.account.withoutRequestDetails !== true;
  return { status: 200, json: { ...entryBody(entry), said: isShown && details ? saidBody(details) : null } };
});

const keep = defineRoute('PUT /user/request-logs/details', {
  right: 'own',
  operationId: 'keepRequestDetails',
  summary: 'Choose whether headers and bodies of requests are kept in the log',
  description:
    'In force within a second. When it is turned off, none are kept any more, and earlier ones are not shown; they are deleted at the end of their time.',
  body: requestDetailsSettingSchema,
  responses: { 200: { description: 'Done.', schema: successSchema } },
}).handledBy(async ({ body, caller, clientAddress }, { accountService }: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  await accountService.setKeepsRequestDetails(caller.session.account, body.kept, by);
  return { status: 200, json: { success: true } };
});

export const requestLogRoutes = [list, keep, get];

function entryBody({ _id, createdAt, ...entry }: RequestLogEntry) {
  return {
    id: _id,
    ...{ method: null, statusCode: null, durationMs: null, jobId: null },
    ...entry,
    createdAt: createdAt.toISOString(),
  };
}

function saidBody({ path, request, response, endsAt }: RequestDetails) {
  return { path, request, response, keptUntil: endsAt.toISOString() };
}
