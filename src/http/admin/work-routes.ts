import { z } from 'zod';
import { defineRoute } from '../request/route.ts';
import { type AdminDeps, BASE, doneBy, ok, paging, tags } from './common.ts';

const params = z.strictObject({ id: z.string().max(300) });

const queue = defineRoute({
  method: 'get',
  path: `${BASE}/queue`,
  summary: 'Get what waits and runs',
  tags,
  auth: 'operator',
  query: z.strictObject({ limit: paging.limit }),
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().queues(query.limit) };
});

const workers = defineRoute({
  method: 'get',
  path: `${BASE}/workers`,
  summary: 'List the workers, and what each renders',
  tags,
  auth: 'operator',
  responses: ok,
}).handledBy(async (_request, { admin }: AdminDeps) => {
  return { status: 200, json: { rows: await admin().workers.list() } };
});

const drain = defineRoute({
  method: 'post',
  path: `${BASE}/workers/:id/drain`,
  summary: 'Let a worker claim nothing more',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  await admin().workers.drain(params.id, true, doneBy(caller));
  return { status: 200, json: { success: true } };
});

const resume = defineRoute({
  method: 'post',
  path: `${BASE}/workers/:id/resume`,
  summary: 'Let a worker claim again',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  await admin().workers.drain(params.id, false, doneBy(caller));
  return { status: 200, json: { success: true } };
});

export const workRoutes = [queue, workers, drain, resume];
