import { z } from 'zod';
import { type JobAct, MOST_AT_ONCE } from '../../admin/job-operation.ts';
import { ERROR_CODES, JOB_LIST_STATES } from '../../admin/jobs.ts';
import { defineRoute } from '../request/route.ts';
import { type AdminDeps, BASE, doneBy, ok, paging, tags } from './common.ts';

const params = z.strictObject({ id: z.uuid().toLowerCase() });
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const filter = z.strictObject({
  state: z.enum(JOB_LIST_STATES).optional(),
  accountId: z.uuid().toLowerCase().optional(),
  errorCode: z.enum(ERROR_CODES).optional(),
  templateId: z.uuid().toLowerCase().optional(),
  from: moment.optional(),
  to: moment.optional(),
});
/** A new operation, or one that goes on. */
const operation = z
  .strictObject({
    filter: filter.optional(),
    cursor: z.string().max(4096).optional(),
    limit: z.int().min(1).max(MOST_AT_ONCE).default(MOST_AT_ONCE),
  })
  .refine(({ filter, cursor }) => (filter === undefined) !== (cursor === undefined), {
    error: 'must have either filter or cursor',
  });

const list = defineRoute({
  method: 'get',
  path: `${BASE}/jobs`,
  summary: 'List jobs',
  tags,
  auth: 'operator',
  query: filter.extend(paging),
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { cursor, limit, ...conditions } = query;
  return { status: 200, json: await admin().jobs.list(conditions, { cursor, limit }) };
});

const get = defineRoute({
  method: 'get',
  path: `${BASE}/jobs/:id`,
  summary: 'Get a job',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().jobs.get(params.id) };
});

const retry = defineRoute({
  method: 'post',
  path: `${BASE}/jobs/:id/retry`,
  summary: 'Render a job again',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: { jobId: await admin().jobs.retry(params.id, doneBy(caller)) } };
});

const cancel = defineRoute({
  method: 'post',
  path: `${BASE}/jobs/:id/cancel`,
  withoutRoom: 'confirmed',
  summary: 'Cancel a job',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().jobs.cancel(params.id, doneBy(caller)) };
});

/** A route for all jobs that fit a filter, some with each request. */
function byFilter(act: JobAct) {
  return defineRoute({
    method: 'post',
    path: `${BASE}/jobs/${act}`,
    ...(act === 'cancel' && { withoutRoom: 'confirmed' as const }),
    summary: `${act === 'retry' ? 'Render again' : 'Cancel'} the jobs that fit a filter`,
    tags,
    auth: 'operator',
    body: operation,
    responses: ok,
  }).handledBy(async ({ body, caller }, deps: AdminDeps) => {
    const { cursor, filter = {}, limit } = body;
    const { operation } = deps.admin();
    const by = doneBy(caller);
    const progress =
      cursor === undefined
        ? operation.begin(act, filter, by, limit)
        : operation.continue(act, cursor, by, limit);
    return { status: 200, json: await progress };
  });
}

export const jobRoutes = [list, byFilter('retry'), byFilter('cancel'), get, retry, cancel];
