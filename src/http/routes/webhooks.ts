import { z } from 'zod';
import { byAccount } from '../../audit/audit-log.ts';
import { DELIVERY_STATES, type Delivery } from '../../callbacks/delivery.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { ApiParts } from '../api-parts.ts';
import { defineRoute } from '../route.ts';
import { paging } from '../schemas/paging.ts';
import {
  newWebhookKeySchema,
  webhookDeliveryListSchema,
  webhookDeliverySchema,
  webhookKeyListSchema,
} from '../schemas/webhook.ts';

const tags = ['Callbacks'];

const list = defineRoute({
  method: 'get',
  path: '/user/webhook-deliveries',
  summary: 'List the callbacks of the account',
  description: 'What was sent, is being sent and could not be sent, for 90 days.',
  tags,
  auth: 'bearer',
  query: z.strictObject({
    status: z.enum(DELIVERY_STATES).optional().describe('Only callbacks in this state.'),
    ...paging,
    sort: z.enum(['created_desc', 'created_asc']).default('created_desc'),
  }),
  responses: { 200: { description: 'One page of callbacks.', schema: webhookDeliveryListSchema } },
}).handledBy(async ({ query, caller }, { deliveries }: ApiParts) => {
  const { status: state, limit, offset, sort } = query;
  const newestFirst = sort === 'created_desc';
  const found = await deliveries.list(caller.accountId, { state, limit, offset, newestFirst });
  const page = found.deliveries.map(deliveryBody);
  return { status: 200, json: { total: found.total, limit, offset, deliveries: page } };
});

const redeliver = defineRoute({
  method: 'post',
  path: '/user/webhook-deliveries/:id/redeliver',
  summary: 'Send a callback again',
  description:
    'It begins anew, at once and with all its attempts, under the same id, whatever became of it before.',
  tags,
  auth: 'bearer',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  responses: {
    202: { description: 'The callback, which is about to be sent.', schema: webhookDeliverySchema },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, { deliveries }: ApiParts) => {
  const delivery = await deliveries.redeliver(caller.accountId, params.id);
  if (delivery === undefined) throw new PlatenError('NOT_FOUND', `There is no callback ${params.id}.`);
  return { status: 202, json: deliveryBody(delivery) };
});

const keys = defineRoute({
  method: 'get',
  path: '/user/webhook-keys',
  summary: 'List the keys that sign callbacks',
  tags,
  auth: 'bearer',
  responses: {
    200: {
      description: 'The keys that sign now, the newest first, without secrets.',
      schema: webhookKeyListSchema,
    },
  },
}).handledBy(async ({ caller }, { signingKeys }: ApiParts) => {
  const signing = await signingKeys.list(caller.accountId);
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
  summary: 'Make a new key that signs callbacks',
  description:
    'The first secret of an account is got this way, too. The key before signs beside the new one for 24 hours.',
  tags,
  auth: 'bearer',
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newWebhookKeySchema } },
}).handledBy(async ({ caller, clientAddress }, { signingKeys }: ApiParts) => {
  const { id, secret } = await signingKeys.rotate(caller.accountId, byAccount(clientAddress));
  return { status: 200, json: { id, secret } };
});

export const webhookRoutes = [list, redeliver, keys, rotate];

function deliveryBody(delivery: Delivery) {
  const { payload, due } = delivery;
  return {
    id: delivery._id,
    event: payload.event,
    jobId: payload.jobId,
    url: delivery.url,
    status: delivery.state,
    attemptCount: delivery.attempts,
    createdAt: delivery.createdAt.toISOString(),
    lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: due?.toISOString() ?? null,
    deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
    responseStatus: delivery.responseStatus,
    error: delivery.error,
  };
}
