import { z } from 'zod';
import { answering, paging } from './common.ts';

const params = z.strictObject({ id: z.string().max(300) });

const queue = answering(
  'GET /queue',
  {
    summary: 'Get what waits and runs',
    query: z.strictObject({ limit: paging.limit }),
  },
  ({ query }, admin) => admin.queues(query.limit),
);

const workers = answering(
  'GET /workers',
  { summary: 'List the workers, and what each renders' },
  async (_request, admin) => ({ rows: await admin.workers.list() }),
);

const drain = answering(
  'POST /workers/:id/drain',
  { summary: 'Let a worker claim nothing more', params },
  ({ params }, admin, by) => admin.workers.drain(params.id, true, by),
);

const resume = answering(
  'POST /workers/:id/resume',
  { summary: 'Let a worker claim again', params },
  ({ params }, admin, by) => admin.workers.drain(params.id, false, by),
);

export const workRoutes = [queue, workers, drain, resume];
