import { z } from 'zod';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import { JOB_STATUSES, statesOf } from '../../work/jobs/job-record.ts';
import type { ApiDeps } from '../api-deps.ts';
import { withoutKey } from '../request/authenticate-bearer.ts';
import { requireConfirmedAddress } from '../request/confirmed-address.ts';
import { pagingByTime, queryBoolean } from '../request/paging-schema.ts';
import { defineRoute } from '../request/route.ts';
import { idempotently } from './idempotency.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from './idempotency-schema.ts';
import { jobRecordSchema } from './job-record-schema.ts';
import { reportRoute } from './render-report.ts';
import { renderErrors } from './render-request-schema.ts';
import { acceptedRender, renderSubmissionOf, submitOnce, WORK_REJECTIONS } from './render-submission.ts';
import { cancelRequestedJob, requestedJob } from './requested-work.ts';
import { inputBody, renderBodies, renderDetail } from './user-render.ts';
import {
  acceptedRenderSchema,
  queueSchema,
  renderInputSchema,
  userRenderDetailSchema,
  userRenderListSchema,
  userRenderRequestSchema,
} from './user-render-schema.ts';

const tags = ['Renders'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const ACCEPTED = {
  202: { description: 'Accepted; follow the job.', schema: acceptedRenderSchema, headers: REPLAYED_HEADER },
} as const;
/** Lets a page of this service show the PDF in a frame; other sites must not. */
const SHOWN_IN_OWN_PAGES = {
  'Content-Security-Policy': "frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN',
};

const list = defineRoute({
  method: 'get',
  path: '/user/renders',
  operationId: 'listUserRenders',
  summary: 'List the single renders of the account',
  description: 'Renders of live keys, of test keys and of the dashboard.',
  tags,
  auth: 'bearer',
  query: z
    .strictObject({
      status: z.enum(JOB_STATUSES).optional().describe('Only jobs in this state.'),
      mode: z.enum(['live', 'test']).optional().describe('Only renders of live keys, or only of test keys.'),
      from: moment.optional().describe('Only renders that were accepted at this time or later.'),
      to: moment.optional().describe('Only renders that were accepted before this time.'),
      ...pagingByTime,
    })
    .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
      error: 'must be before to',
      path: ['from'],
    }),
  responses: { 200: { description: 'One page of renders.', schema: userRenderListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { status, mode, from, to, limit, offset, sort } = query;
  const owner = { accountId: caller.accountId, ...(mode && { mode }) };
  const { total, jobs } = await deps.renders.list(owner, {
    ...(status && { states: statesOf(status) }),
    from,
    to,
    limit,
    offset,
    newestFirst: sort === 'created_desc',
  });
  return { status: 200, json: { total, limit, offset, renders: await renderBodies(jobs, deps) } };
});

const get = defineRoute({
  method: 'get',
  path: '/user/renders/:id',
  operationId: 'getUserRender',
  summary: 'Get a render of the account, with its attempts',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The render.', schema: userRenderDetailSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return { status: 200, json: await renderDetail(job, request.caller, deps) };
});

const file = defineRoute({
  method: 'get',
  path: '/user/renders/:id/file',
  operationId: 'downloadUserRenderPdf',
  summary: 'Show or download the PDF of a render',
  tags,
  auth: 'bearer',
  params,
  query: z.strictObject({
    download: queryBoolean(false).describe('`true`: the browser saves the PDF instead of showing it.'),
  }),
  responses: { 200: { description: 'The PDF.', contentType: PDF } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const disposition = contentDisposition(job.fileName, request.query.download ? 'attachment' : 'inline');
  return await withDownload(deps.downloads.pdfs, job.accountId, async () => {
    const headers = { ...SHOWN_IN_OWN_PAGES, 'Content-Disposition': disposition };
    return { status: 200, body: await deps.renders.openOutput(job), headers } as const;
  });
});

const report = reportRoute(
  { operationId: 'getUserRenderReport', path: '/user/renders/:id/report' },
  tags,
  'bearer',
);

const input = defineRoute({
  method: 'get',
  path: '/user/renders/:id/input',
  operationId: 'getUserRenderInput',
  summary: 'Get the input of a render',
  description:
    'The input is kept until the render has completed; if the render has failed, until its retention ends.',
  tags,
  auth: 'bearer',
  params,
  needsPermit: true,
  largeResponse: true,
  responses: { 200: { description: 'The input.', schema: renderInputSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return { status: 200, json: inputBody(await deps.renders.inputOf(job), job) };
});

const cancel = defineRoute({
  method: 'delete',
  path: '/user/renders/:id',
  operationId: 'cancelUserRender',
  withoutRoom: 'confirmed',
  summary: 'Cancel a render',
  description: 'A running render is stopped.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The record of the cancelled job.', schema: jobRecordSchema } },
  errors: ['NOT_FOUND', 'JOB_ENDED'],
}).handledBy(cancelRequestedJob);

const retry = defineRoute({
  method: 'post',
  path: '/user/renders/:id/retry',
  operationId: 'retryUserRender',
  summary: 'Retry a render that has failed or was cancelled',
  description:
    'This makes a new job under the current plan, and uses quota like any other. The old job is not changed.',
  tags,
  auth: 'bearer',
  requestsWork: true,
  needsPermit: true,
  params,
  headers: idempotencyHeaders,
  responses: ACCEPTED,
  errors: ['NOT_FOUND', 'NOT_RETRYABLE', 'GONE', 'ADDRESS_NOT_CONFIRMED', ...WORK_REJECTIONS],
}).handledBy(async (request, deps: ApiDeps) => {
  const { params, headers, caller, admission } = request;
  const accepted = (jobId: string) => {
    request.aboutJob(jobId);
    return acceptedRender(jobId, params.id);
  };
  return await idempotently(request, headers['Idempotency-Key'], deps.idempotency, {
    async run(lock) {
      const job = await deps.renders.get({ accountId: caller.accountId }, params.id);
      const as = withoutKey(caller, job.test ? 'test' : 'live');
      requireConfirmedAddress(caller, as.mode, deps);
      const { jobId } = await submitOnce({ caller: as, execution: 'async', admission }, deps, lock, () =>
        deps.renders.retryOf(job, caller),
      );
      return accepted(jobId);
    },
    replay: async (jobId) => accepted(jobId),
  });
});

const render = defineRoute({
  method: 'post',
  path: '/user/renders',
  operationId: 'createUserRender',
  summary: 'Render one document, without an API key',
  description:
    'The response comes at once; follow the job. It is rendered before jobs with `executionMode` = `async`.',
  tags,
  auth: 'bearer',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: userRenderRequestSchema,
  bodyErrors: renderErrors,
  responses: ACCEPTED,
  errors: [
    'NOT_FOUND',
    'PLAN_LIMIT',
    'INVALID_URL',
    'URL_BLOCKED',
    'UPLOAD_URL_EXPIRED',
    'EINVOICE_INVALID',
    'ADDRESS_NOT_CONFIRMED',
    ...WORK_REJECTIONS,
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { body, headers, admission } = request;
  const { mode, ...renderRequest } = body;
  requireConfirmedAddress(request.caller, mode, deps);
  const caller = withoutKey(request.caller, mode);
  const accepted = (jobId: string) => {
    request.aboutJob(jobId);
    return acceptedRender(jobId, null);
  };
  return await idempotently(request, headers['Idempotency-Key'], deps.idempotency, {
    async run(lock) {
      const { jobId, stopWaiting } = await submitOnce(
        { caller, execution: renderRequest.executionMode, admission },
        deps,
        lock,
        () => renderSubmissionOf(renderRequest, caller, deps),
      );
      stopWaiting();
      return accepted(jobId);
    },
    replay: async (jobId) => accepted(jobId),
  });
});

const queue = defineRoute({
  method: 'get',
  path: '/user/queue',
  operationId: 'getQueue',
  summary: 'Get the number of running and waiting jobs',
  tags,
  auth: 'bearer',
  responses: { 200: { description: 'The numbers at this moment.', schema: queueSchema } },
}).handledBy(async ({ caller }, { renders }: ApiDeps) => {
  const { inFlight, waiting, oldestWaitingAt } = await renders.queue(caller.accountId);
  const { concurrentRenders } = caller.plan;
  const oldest = oldestWaitingAt?.toISOString() ?? null;
  return { status: 200, json: { inFlight, waiting, concurrentRenders, oldestWaitingAt: oldest } };
});

export const userRenderRoutes = [list, render, get, cancel, file, report, input, retry, queue];
