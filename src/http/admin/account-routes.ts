import { z } from 'zod';
import { nameSchema } from '../../tenants/plans/plan.ts';
import { queryBoolean } from '../request/paging-schema.ts';
import { defineRoute } from '../request/route.ts';
import { type AdminDeps, BASE, doneBy, ok, paging, tags } from './common.ts';

const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute({
  method: 'get',
  path: `${BASE}/accounts`,
  summary: 'List accounts',
  tags,
  auth: 'operator',
  query: z.strictObject({
    search: z.string().max(320).optional(),
    plan: nameSchema.optional(),
    suspended: queryBoolean(false),
    ...paging,
  }),
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { search, plan, suspended, ...page } = query;
  return { status: 200, json: await admin().accounts.list({ search, plan, suspended }, page) };
});

const get = defineRoute({
  method: 'get',
  path: `${BASE}/accounts/:id`,
  summary: 'Get an account',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().accounts.get(params.id) };
});

const suspend = defineRoute({
  method: 'post',
  path: `${BASE}/accounts/:id/suspend`,
  withoutRoom: 'confirmed',
  summary: 'Suspend an account',
  tags,
  auth: 'operator',
  params,
  body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
  responses: ok,
}).handledBy(async ({ params, body, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().accounts.suspend(params.id, body.reason, doneBy(caller)) };
});

const resume = defineRoute({
  method: 'post',
  path: `${BASE}/accounts/:id/resume`,
  summary: 'End the suspension of an account',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().accounts.resume(params.id, doneBy(caller)) };
});

const remove = defineRoute({
  method: 'post',
  path: `${BASE}/accounts/:id/delete`,
  withoutRoom: 'confirmed',
  summary: 'Delete an account with all that it has',
  tags,
  auth: 'operator',
  params,
  body: z.strictObject({ confirm: z.string().max(320) }),
  responses: ok,
}).handledBy(async ({ params, body, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().accounts.delete(params.id, body.confirm, doneBy(caller)) };
});

const audit = defineRoute({
  method: 'get',
  path: `${BASE}/audit`,
  summary: 'List what operators did',
  tags,
  auth: 'operator',
  query: z.strictObject(paging),
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().audit(query) };
});

export const accountRoutes = [list, get, suspend, resume, remove, audit];
