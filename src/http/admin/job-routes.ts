import { z } from 'zod';
import { type JobAct, MOST_AT_ONCE } from '../../admin/job-operation.ts';
import { ERROR_CODES, JOB_LIST_STATES } from '../../admin/jobs.ts';
import { moment } from '../request/paging-schema.ts';
import { answering, paging } from './common.ts';

const params = z.strictObject({ id: z.uuid().toLowerCase() });

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

const list = answering(
  'GET /jobs',
  { summary: 'List jobs', query: filter.extend(paging) },
  async ({ query }, admin) => {
    const { cursor, limit, ...conditions } = query;
    return admin.jobs.list(conditions, { cursor, limit });
  },
);

const get = answering('GET /jobs/:id', { summary: 'Get a job', params }, ({ params }, admin) =>
  admin.jobs.get(params.id),
);

const retry = answering(
  'POST /jobs/:id/retry',
  { summary: 'Render a job again', params },
  async ({ params }, admin, by) => ({ jobId: await admin.jobs.retry(params.id, by) }),
);

const cancel = answering(
  'POST /jobs/:id/cancel',
  { withoutRoom: 'confirmed', summary: 'Cancel a job', params },
  ({ params }, admin, by) => admin.jobs.cancel(params.id, by),
);

/** A route for all jobs that fit a filter, some with each request. */
function byFilter(act: JobAct) {
  return answering(
    `POST /jobs/${act}`,
    {
      ...(act === 'cancel' && { withoutRoom: 'confirmed' as const }),
      summary: `${act === 'retry' ? 'Render again' : 'Cancel'} the jobs that fit a filter`,
      body: operation,
    },
    ({ body }, { operation }, by) => {
      const { cursor, filter = {}, limit } = body;
      return cursor === undefined
        ? operation.begin(act, filter, by, limit)
        : operation.continue(act, cursor, by, limit);
    },
  );
}

export const jobRoutes = [list, byFilter('retry'), byFilter('cancel'), get, retry, cancel];
