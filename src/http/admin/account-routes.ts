import { z } from 'zod';
import { nameSchema } from '../../tenants/plans/plan.ts';
import { queryBoolean } from '../request/paging-schema.ts';
import { answering, paging } from './common.ts';

const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = answering(
  'GET /accounts',
  {
    summary: 'List accounts',
    query: z.strictObject({
      search: z.string().max(320).optional(),
      plan: nameSchema.optional(),
      suspended: queryBoolean(false),
      ...paging,
    }),
  },
  async ({ query }, admin) => {
    const { search, plan, suspended, ...page } = query;
    return admin.accounts.list({ search, plan, suspended }, page);
  },
);

const get = answering('GET /accounts/:id', { summary: 'Get an account', params }, ({ params }, admin) =>
  admin.accounts.get(params.id),
);

const suspend = answering(
  'POST /accounts/:id/suspend',
  {
    withoutRoom: 'confirmed',
    summary: 'Suspend an account',
    params,
    body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
  },
  ({ params, body }, admin, by) => admin.accounts.suspend(params.id, body.reason, by),
);

const resume = answering(
  'POST /accounts/:id/resume',
  { summary: 'End the suspension of an account', params },
  ({ params }, admin, by) => admin.accounts.resume(params.id, by),
);

const remove = answering(
  'POST /accounts/:id/delete',
  {
    withoutRoom: 'confirmed',
    summary: 'Delete an account with all that it has',
    params,
    body: z.strictObject({ confirm: z.string().max(320) }),
  },
  ({ params, body }, admin, by) => admin.accounts.delete(params.id, body.confirm, by),
);

const audit = answering(
  'GET /audit',
  { summary: 'List what operators did', query: z.strictObject(paging) },
  ({ query }, admin) => admin.audit(query),
);

export const accountRoutes = [list, get, suspend, resume, remove, audit];
