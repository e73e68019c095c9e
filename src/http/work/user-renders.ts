import { z } from 'zod';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import { NO_KEY } from '../../tenants/accounts/caller.ts';
import { JOB_STATUSES, statesOf } from '../../work/jobs/job-record.ts';
import { MOST_EXAMINED } from '../../work/jobs/store/find-jobs.ts';
import type { ApiDeps } from '../api-deps.ts';
import { withoutKey } from '../request/authenticate-bearer.ts';
import { requireConfirmedAddress } from '../request/confirmed-address.ts';
import { moment, paging, queryBoolean } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { ZIP_RESPONSES, zipResponse } from './batch-files.ts';
import { rangeHeaders } from './byte-range.ts';
import { idempotently } from './idempotency.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from './idempotency-schema.ts';
import { jobRecordSchema } from './job-record-schema.ts';
import { reportRoute } from './render-report.ts';
import { renderErrors } from './render-request-schema.ts';
import {
  acceptedRender,
  renderSubmissionOf,
  SUBMISSION_ERRORS,
  submitOnce,
  WORK_REJECTIONS,
} from './render-submission.ts';
import { cancelRequestedJob, requestedJob } from './requested-work.ts';
import { inputBody, renderBodies, renderDetail } from './user-render.ts';
import {
  acceptedRenderSchema,
  queueSchema,
  renderInputSchema,
  renderSearch,
  userRenderDetailSchema,
  userRenderListSchema,
  userRenderRequestSchema,
  zippedRenders,
} from './user-render-schema.ts';

const group = { tags: ['Renders'], auth: 'bearer' } as const;
const defineRoute = routesOf(group);
const params = z.strictObject({ id: z.uuid().toLowerCase() });
const ACCEPTED = {
  202: { description: 'Accepted; follow the job.', schema: acceptedRenderSchema, headers: REPLAYED_HEADER },
} as const;
/** Lets a page of this service show the PDF in a frame; other sites must not. */
const SHOWN_IN_OWN_PAGES = {
  'Content-Security-Policy': "frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN',
};

const list = defineRoute('GET /user/renders', {
  right: 'read',
  operationId: 'listUserRenders',
  summary: 'List the single renders of the account',
  description: `Renders of live keys, of test keys and of the dashboard. By \`search\`, \`error\`, \`templateId\`, \`apiKeyId\`, a duration, or in the order of durations, it is a search among the first ${MOST_EXAMINED} renders in the order of time: \`total\` is what it has found, and \`searchedTo\` where it goes on.`,
  query: z
    .strictObject({
      status: z.enum(JOB_STATUSES).optional().describe('Only jobs in this state.'),
      mode: z.enum(['live', 'test']).optional().describe('Only renders of live keys, or only of test keys.'),
      from: moment.optional().describe('Only renders that were accepted at this time or later.'),
      to: moment.optional().describe('Only renders that were accepted before this time.'),
      ...renderSearch,
      ...paging,
      sort: z
        .enum(['created_desc', 'created_asc', 'duration_desc'])
        .default('created_desc')
        .describe('`duration_desc`: what took longest comes first.'),
    })
    .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
      error: 'must be before to',
      path: ['from'],
    })
    .refine(({ minMs, maxMs }) => minMs === undefined || maxMs === undefined || minMs <= maxMs, {
      error: 'must be at most maxMs',
      path: ['minMs'],
    }),
  responses: { 200: { description: 'One page of renders.', schema: userRenderListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { status, mode, from, to, limit, offset, sort, search, error, apiKeyId, ...others } = query;
  const owner = { accountId: caller.accountId, ...(mode && { mode }) };
  // Only those that failed have an error.
  const states =
    status === undefined && error !== undefined ? ['failed' as const] : status && statesOf(status);
  const page = { ...(states && { states }), from, to, limit, offset, newestFirst: sort !== 'created_asc' };
  const terms = {
    ...others,
    text: search,
    errorCode: error,
    apiKeyId: apiKeyId === 'none' ? NO_KEY.apiKeyId : apiKeyId,
  };
  const slowestFirst = sort === 'duration_desc';
  const isSearch = slowestFirst || Object.values(terms).some((term) => term !== undefined);
  const { total, jobs, searchedTo } = isSearch
    ? await deps.renders.findBy(owner, { ...page, terms, slowestFirst })
    : { ...(await deps.renders.list(owner, page)), searchedTo: null };
  const renders = await renderBodies(jobs, deps);
  return {
    status: 200,
    json: { total, limit, offset, renders, searchedTo: searchedTo?.toISOString() ?? null },
  };
});

const zip = defineRoute('GET /user/renders/zip', {
  right: 'read',
  operationId: 'downloadUserRendersZip',
  summary: 'Download the PDFs of some renders as a zip',
  description: 'Each PDF has a file name of its own. Renders without a PDF are left out.',
  query: zippedRenders,
  headers: rangeHeaders,
  responses: ZIP_RESPONSES,
  errors: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
}).handledBy(({ query, headers, caller, setHeader }, deps: ApiDeps) => {
  return withDownload(deps.downloads.zips, caller.accountId, async () => {
    const { accountId } = caller;
    const jobs = await Promise.all(query.ids.map((id) => deps.renders.get({ accountId }, id)));
    return zipResponse('renders', deps.batchFiles.zipOf(jobs), { headers, setHeader }, deps);
  });
});

const get = defineRoute('GET /user/renders/:id', {
  right: 'read',
  operationId: 'getUserRender',
  summary: 'Get a render of the account, with its attempts',
  params,
  responses: { 200: { description: 'The render.', schema: userRenderDetailSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return { status: 200, json: await renderDetail(job, request.caller, deps) };
});

const file = defineRoute('GET /user/renders/:id/file', {
  right: 'read',
  operationId: 'downloadUserRenderPdf',
  summary: 'Show or download the PDF of a render',
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

const report = reportRoute('/user/renders/:id/report', 'getUserRenderReport', {
  ...group,
  right: 'read',
});

const input = defineRoute('GET /user/renders/:id/input', {
  right: 'read',
  operationId: 'getUserRenderInput',
  summary: 'Get the input of a render',
  description:
    'The input is kept until the render has completed; if the render has failed, until its retention ends.',
  params,
  needsPermit: true,
  largeResponse: true,
  responses: { 200: { description: 'The input.', schema: renderInputSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return { status: 200, json: inputBody(await deps.renders.inputOf(job), job) };
});

const cancel = defineRoute('DELETE /user/renders/:id', {
  right: 'develop',
  operationId: 'cancelUserRender',
  withoutRoom: 'confirmed',
  summary: 'Cancel a render',
  description: 'A running render is stopped.',
  params,
  responses: { 200: { description: 'The record of the cancelled job.', schema: jobRecordSchema } },
  errors: ['NOT_FOUND', 'JOB_ENDED'],
}).handledBy(cancelRequestedJob);

const retry = defineRoute('POST /user/renders/:id/retry', {
  right: 'develop',
  operationId: 'retryUserRender',
  summary: 'Retry a render that has failed or was cancelled',
  description:
    'This makes a new job under the current plan, and uses quota like any other. The old job is not changed.',
  requestsWork: true,
  needsPermit: true,
  params,
  headers: idempotencyHeaders,
  responses: ACCEPTED,
  errors: ['NOT_FOUND', 'NOT_RETRYABLE', 'GONE', 'PLAN_LIMIT', 'ADDRESS_NOT_CONFIRMED', ...WORK_REJECTIONS],
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

const render = defineRoute('POST /user/renders', {
  right: 'develop',
  operationId: 'createUserRender',
  summary: 'Render one document, without an API key',
  description:
    'The response comes at once; follow the job. It is rendered before jobs with `executionMode` = `async`.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: userRenderRequestSchema,
  bodyErrors: renderErrors,
  responses: ACCEPTED,
  errors: ['ADDRESS_NOT_CONFIRMED', ...SUBMISSION_ERRORS],
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

const queue = defineRoute('GET /user/queue', {
  right: 'look',
  operationId: 'getQueue',
  summary: 'Get the number of running and waiting jobs',
  responses: { 200: { description: 'The numbers at this moment.', schema: queueSchema } },
}).handledBy(async ({ caller }, { renders }: ApiDeps) => {
  const { inFlight, waiting, oldestWaitingAt } = await renders.queue(caller.accountId);
  const { concurrentRenders } = caller.plan;
  const oldest = oldestWaitingAt?.toISOString() ?? null;
  return { status: 200, json: { inFlight, waiting, concurrentRenders, oldestWaitingAt: oldest } };
});

export const userRenderRoutes = [list, render, zip, get, cancel, file, report, input, retry, queue];
