import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../../tenants/audit/audit-log.ts';
import {
  bodyOf,
  type CallbackPayload,
  DELIVERY_STATES,
  type Delivery,
} from '../../work/callbacks/delivery.ts';
import { scheduleTest } from '../../work/callbacks/schedule-callbacks.ts';
import type { ApiDeps } from '../api-deps.ts';
import { pagingByTime } from '../request/paging-schema.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { defineRoute } from '../request/route.ts';
import { checkWebhook } from '../work/check-webhook.ts';
import {
  newWebhookKeySchema,
  webhookDeliveryDetailSchema,
  webhookDeliveryListSchema,
  webhookDeliverySchema,
  webhookKeyListSchema,
  webhookTestSchema,
} from './webhook-schema.ts';

const tags = ['Callbacks'];

const list = defineRoute({
  method: 'get',
  path: '/user/webhook-deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'List the callbacks of the account',
  description: 'Callbacks of the last 90 days: delivered, in progress and failed.',
  tags,
  auth: 'bearer',
  query: z.strictObject({
    status: z.enum(DELIVERY_STATES).optional().describe('Only callbacks in this state.'),
    jobId: z.uuid().toLowerCase().optional().describe('Only callbacks of this job or batch.'),
    ...pagingByTime,
  }),
  responses: { 200: { description: 'One page of callbacks.', schema: webhookDeliveryListSchema } },
}).handledBy(async ({ query, caller }, { deliveries }: ApiDeps) => {
  const { status: state, jobId, limit, offset, sort } = query;
  const newestFirst = sort === 'created_desc';
  const found = await deliveries.list(caller.accountId, { state, jobId, limit, offset, newestFirst });
  const page = found.deliveries.map(deliveryBody);
  return { status: 200, json: { total: found.total, limit, offset, deliveries: page } };
});

const redeliver = defineRoute({
  method: 'post',
  path: '/user/webhook-deliveries/:id/redeliver',
  operationId: 'redeliverWebhook',
  summary: 'Send a callback again',
  description: 'Sends it at once, under the same id and with all attempts, whatever its outcome was.',
  tags,
  auth: 'bearer',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  responses: {
    202: { description: 'The callback, which will be sent.', schema: webhookDeliverySchema },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, { deliveries }: ApiDeps) => {
  const delivery = await deliveries.redeliver(caller.accountId, params.id);
  if (delivery === undefined) throw new PlatenError('NOT_FOUND', `There is no callback ${params.id}.`);
  return { status: 202, json: deliveryBody(delivery) };
});

const get = defineRoute({
  method: 'get',
  path: '/user/webhook-deliveries/:id',
  operationId: 'getWebhookDelivery',
  summary: 'Get a callback with its body and its attempts',
  tags,
  auth: 'bearer',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  responses: { 200: { description: 'The callback.', schema: webhookDeliveryDetailSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, { deliveries, publicUrl }: ApiDeps) => {
  const delivery = await deliveries.find(params.id);
  if (delivery?.accountId !== caller.accountId)
    throw new PlatenError('NOT_FOUND', `There is no callback ${params.id}.`);
  const { payload, recentAttempts = [] } = delivery;
  const attempts = recentAttempts.map(({ at, ...attempt }) => ({ at: at.toISOString(), ...attempt }));
  const body = JSON.parse(bodyOf(payload, publicUrl())) as CallbackPayload;
  return { status: 200, json: { ...deliveryBody(delivery), payload: body, attempts } };
});

const test = defineRoute({
  method: 'post',
  path: '/user/webhook-deliveries/test',
  operationId: 'sendTestWebhook',
  summary: 'Send a test callback',
  description:
    'Its event is `webhook.test`. It is signed and repeated like any other callback, so you can see whether callbacks arrive.',
  tags,
  auth: 'bearer',
  body: webhookTestSchema,
  responses: {
    202: { description: 'The callback, which will be sent.', schema: webhookDeliverySchema },
  },
  errors: ['PLAN_LIMIT', 'INVALID_URL', 'URL_BLOCKED', 'STORAGE_FULL'],
}).handledBy(async ({ body, caller }, deps: ApiDeps) => {
  checkWebhook(body.url, caller.plan, deps);
  return { status: 202, json: deliveryBody(await scheduleTest(deps, caller, body.url)) };
});

const keys = defineRoute({
  method: 'get',
  path: '/user/webhook-keys',
  operationId: 'listWebhookKeys',
  summary: 'List the keys that sign callbacks',
  tags,
  auth: 'bearer',
  responses: {
    200: {
      description: 'The keys that sign at present, newest first, without secrets.',
      schema: webhookKeyListSchema,
    },
  },
}).handledBy(async ({ caller }, { signingKeys }: ApiDeps) => {
  const signing = await signingKeys.list(caller);
  return {
    status: 200,
    json: {
      keys: signing.map(({ id, createdAt, expiresAt }) => ({
        id,
        status: expiresAt === null ? 'active' : 'retiring',
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
      })),
    },
  } as const;
});

const rotate = defineRoute({
  method: 'post',
  path: '/user/webhook-keys/rotate',
  operationId: 'rotateWebhookKey',
  summary: 'Rotate the key that signs callbacks',
  description:
    'This also makes the first key of an account. For 24 hours the previous key signs together with the new one.',
  tags,
  auth: 'bearer',
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newWebhookKeySchema } },
  errors: ['PASSWORD_REQUIRED'],
}).handledBy(async ({ caller, clientAddress }, { signingKeys, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  const { id, secret } = await signingKeys.rotate(caller, byAccount(clientAddress));
  return { status: 200, json: { id, secret } };
});

export const webhookRoutes = [list, test, get, redeliver, keys, rotate];

function deliveryBody(delivery: Delivery) {
  const { payload, dueAt } = delivery;
  return {
    id: delivery._id,
    event: payload.event,
    jobId: payload.jobId,
    url: delivery.url,
    status: delivery.state,
    attemptCount: delivery.attempts,
    createdAt: delivery.createdAt.toISOString(),
    lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: dueAt?.toISOString() ?? null,
    deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
    responseStatus: delivery.responseStatus,
    error: delivery.error,
  };
}
