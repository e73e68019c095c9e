import { z } from 'zod';
import { PROBLEM_KINDS } from '../../admin/billing.ts';
import { MESSAGE_STATES } from '../../admin/messages.ts';
import { defineRoute } from '../request/route.ts';
import { type AdminDeps, BASE, doneBy, ok, paging, tags } from './common.ts';

const params = z.strictObject({ id: z.string().max(300) });
const messages = z.strictObject({ state: z.enum(MESSAGE_STATES).default('waiting'), ...paging });

const deliveries = defineRoute({
  method: 'get',
  path: `${BASE}/deliveries`,
  summary: 'List callbacks that wait or were given up',
  tags,
  auth: 'operator',
  query: messages,
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().messages.deliveries(query.state, query) };
});

const retryDelivery = defineRoute({
  method: 'post',
  path: `${BASE}/deliveries/:id/retry`,
  summary: 'Send a callback now',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().messages.retryDelivery(params.id, doneBy(caller)) };
});

const mails = defineRoute({
  method: 'get',
  path: `${BASE}/mails`,
  summary: 'List mails that wait or were given up',
  tags,
  auth: 'operator',
  query: messages,
  responses: ok,
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().messages.mails(query.state, query) };
});

const retryMail = defineRoute({
  method: 'post',
  path: `${BASE}/mails/:id/retry`,
  summary: 'Send a mail now',
  tags,
  auth: 'operator',
  params,
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().messages.retryMail(params.id, doneBy(caller)) };
});

const problems = defineRoute({
  method: 'get',
  path: `${BASE}/billing/:kind`,
  summary: 'List problems of billing',
  tags,
  auth: 'operator',
  params: z.strictObject({ kind: z.enum(PROBLEM_KINDS) }),
  query: z.strictObject(paging),
  responses: ok,
}).handledBy(async ({ params, query }, { admin }: AdminDeps) => {
  return { status: 200, json: await admin().billing.list(params.kind, query) };
});

const retryBilling = defineRoute({
  method: 'post',
  path: `${BASE}/billing/:kind/:id/retry`,
  summary: "Read the payment provider's state again now",
  tags,
  auth: 'operator',
  params: params.extend({ kind: z.enum(PROBLEM_KINDS) }),
  responses: ok,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  await admin().billing.retry(params.kind, params.id, doneBy(caller));
  return { status: 200, json: { success: true } };
});

export const messageRoutes = [deliveries, retryDelivery, mails, retryMail, problems, retryBilling];
