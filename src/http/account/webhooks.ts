import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { displayNameSchema } from '../../render/options/core/text-schemas.ts';
import {
  bodyOf,
  CALLBACK_EVENTS,
  type CallbackPayload,
  DELIVERY_STATES,
  type Delivery,
} from '../../work/callbacks/delivery.ts';
import { MOST_EXAMINED, MOST_REDELIVERED } from '../../work/callbacks/delivery-store.ts';
import { scheduleTest } from '../../work/callbacks/schedule-callbacks.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { moment, pagingByTime } from '../request/paging-schema.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import { checkWebhook } from '../work/check-webhook.ts';
import {
  newWebhookKeySchema,
  redeliveredSchema,
  redeliverFailedSchema,
  webhookDeliveryDetailSchema,
  webhookDeliveryListSchema,
  webhookDeliverySchema,
  webhookKeyListSchema,
  webhookTestSchema,
} from './webhook-schema.ts';

const defineRoute = routesOf({ tags: ['Callbacks'], auth: 'bearer' });

/** What deliveries are found by, besides their state. */
const terms = {
  event: z.enum(CALLBACK_EVENTS).optional().describe('Only callbacks of this event.'),
  url: displayNameSchema(200)
    .optional()
    .describe('Only callbacks with this in their address, in either case.'),
};

const list = defineRoute('GET /user/webhook-deliveries', {
  right: 'read',
  operationId: 'listWebhookDeliveries',
  summary: 'List the callbacks of the account',
  description: `Callbacks of the last 90 days: delivered, in progress and failed. By \`event\` or \`url\` it is a search among the first ${MOST_EXAMINED} callbacks in the order of time: \`total\` is what it has found, and \`searchedTo\` where it goes on.`,
  query: z.strictObject({
    status: z.enum(DELIVERY_STATES).optional().describe('Only callbacks in this state.'),
    jobId: z.uuid().toLowerCase().optional().describe('Only callbacks of this job or batch.'),
    ...terms,
    from: moment.optional().describe('Only callbacks created then or later.'),
    to: moment.optional().describe('Only callbacks created before.'),
    ...pagingByTime,
  }),
  responses: { 200: { description: 'One page of callbacks.', schema: webhookDeliveryListSchema } },
}).handledBy(async ({ query, caller }, { deliveries }: ApiDeps) => {
  const { status: state, sort, ...others } = query;
  const { limit, offset } = query;
  const asked = { ...others, state, newestFirst: sort === 'created_desc' };
  const { total, ...found } = await deliveries.list(caller.accountId, asked);
  const page = { total, limit, offset, deliveries: found.deliveries.map(deliveryBody) };
  return { status: 200, json: { ...page, searchedTo: found.searchedTo?.toISOString() ?? null } };
});

const redeliver = defineRoute('POST /user/webhook-deliveries/:id/redeliver', {
  right: 'develop',
  operationId: 'redeliverWebhook',
  summary: 'Send a callback again',
  description: 'Sends it at once, under the same id and with all attempts, whatever its outcome was.',
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

const redeliverFailed = defineRoute('POST /user/webhook-deliveries/redeliver-failed', {
  right: 'develop',
  operationId: 'redeliverFailedWebhooks',
  summary: 'Send the callbacks again that failed',
  description: `Those that were created since a time, for example the beginning of an outage, the oldest first; at most ${MOST_REDELIVERED} a request. Each is sent under its own id and with all attempts.`,
  body: redeliverFailedSchema.extend(terms).meta({ id: 'RedeliverFailed' }),
  responses: { 202: { description: 'How many will be sent.', schema: redeliveredSchema } },
}).handledBy(async ({ body, caller }, { deliveries }: ApiDeps) => {
  const { since, ...others } = body;
  const sent = await deliveries.redeliverFailed(caller.accountId, { ...others, from: since });
  return {
    status: 202,
    json: { redelivered: sent.redelivered, nextSince: sent.searchedTo?.toISOString() ?? null },
  };
});

const get = defineRoute('GET /user/webhook-deliveries/:id', {
  right: 'read',
  operationId: 'getWebhookDelivery',
  summary: 'Get a callback with its body and its attempts',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  responses: { 200: { description: 'The callback.', schema: webhookDeliveryDetailSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, { deliveries, publicUrl }: ApiDeps) => {
  const delivery = await deliveries.find(params.id);
  if (delivery?.accountId !== caller.accountId)
    throw new PlatenError('NOT_FOUND', `There is no callback ${params.id}.`);
  const { payload, recentAttempts = [] } = delivery;
  const attempts = recentAttempts.map(({ at, durationMs = null, response = null, ...attempt }) => ({
    at: at.toISOString(),
    ...attempt,
    durationMs,
    response,
  }));
  const body = JSON.parse(bodyOf(payload, publicUrl())) as CallbackPayload;
  return { status: 200, json: { ...deliveryBody(delivery), payload: body, attempts } };
});

const test = defineRoute('POST /user/webhook-deliveries/test', {
  right: 'develop',
  operationId: 'sendTestWebhook',
  summary: 'Send a test callback',
  description:
    'Its event is `webhook.test`. It is signed and repeated like any other callback, so you can see whether callbacks arrive.',
  body: webhookTestSchema,
  responses: {
    202: { description: 'The callback, which will be sent.', schema: webhookDeliverySchema },
  },
  errors: ['PLAN_LIMIT', 'INVALID_URL', 'URL_BLOCKED', 'STORAGE_FULL'],
}).handledBy(async ({ body, caller }, deps: ApiDeps) => {
  checkWebhook(body.url, caller.plan, deps);
  return { status: 202, json: deliveryBody(await scheduleTest(deps, caller, body.url)) };
});

const keys = defineRoute('GET /user/webhook-keys', {
  right: 'read',
  operationId: 'listWebhookKeys',
  summary: 'List the keys that sign callbacks',
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

const rotate = defineRoute('POST /user/webhook-keys/rotate', {
  right: 'develop',
  operationId: 'rotateWebhookKey',
  summary: 'Rotate the key that signs callbacks',
  description:
    'This also makes the first key of an account. For 24 hours the previous key signs together with the new one.',
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newWebhookKeySchema } },
  errors: ['PASSWORD_REQUIRED'],
}).handledBy(async ({ caller, clientAddress }, { signingKeys, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  const { id, secret } = await signingKeys.rotate(caller, byPerson(caller, clientAddress));
  return { status: 200, json: { id, secret } };
});

export const webhookRoutes = [list, test, redeliverFailed, get, redeliver, keys, rotate];

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
