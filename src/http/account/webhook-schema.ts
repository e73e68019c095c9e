import { z } from 'zod';
import {
  CALLBACK_EVENTS,
  DELIVERY_STATES,
  KEPT_RESPONSES,
  MAX_RECENT_ATTEMPTS,
} from '../../work/callbacks/delivery.ts';
import { KEPT_BODY_BYTES } from '../../work/callbacks/kept-response.ts';
import { moment, page } from '../request/paging-schema.ts';
import { jobErrorSchema } from '../work/attempt-schema.ts';
import { webhookUrlSchema } from '../work/render-request-schema.ts';

const time = z.iso.datetime();

export const webhookDeliverySchema = z
  .strictObject({
    id: z.uuid().describe('The value of `X-Service-Delivery-Id`, the same in every attempt.'),
    event: z.enum(CALLBACK_EVENTS),
    jobId: z
      .uuid()
      .describe('The batch or job that it is about. With `webhook.test` the id belongs to nothing.'),
    url: z.string(),
    status: z.enum(DELIVERY_STATES),
    attemptCount: z.int().min(0).describe('Attempts since it was created, or last sent again by hand.'),
    createdAt: time,
    lastAttemptAt: time.nullable(),
    nextAttemptAt: time.nullable().describe('Null if no further attempt is made.'),
    deliveredAt: time.nullable(),
    responseStatus: z
      .int()
      .nullable()
      .describe('The status of the last response of the receiver; null without one.'),
    error: z.string().nullable().describe('Why the last attempt failed.'),
  })
  .meta({ id: 'WebhookDelivery' });

/** The body of a callback. */
export const webhookPayloadSchema = z
  .strictObject({
    event: z.enum(CALLBACK_EVENTS),
    jobId: z.uuid(),
    status: z.string(),
    statusUrl: z.string(),
    zipUrl: z.string().optional(),
    fileUrl: z.string().optional(),
    completedAt: time,
    error: jobErrorSchema.optional(),
  })
  .describe('The body that is sent.')
  .meta({ id: 'WebhookPayload' });

const attemptSchema = z.strictObject({
  at: time,
  responseStatus: z.int().nullable(),
  error: z.string().nullable(),
  durationMs: z.int().min(0).nullable().describe('To the end of the response; null if it is not known.'),
  response: z
    .strictObject({
      headers: z
        .array(z.strictObject({ name: z.string(), value: z.string().describe('Secrets are `***`.') }))
        .readonly()
        .describe('The first of them; values that may be secrets are `***`.'),
      body: z
        .string()
        .nullable()
        .describe(`The first ${KEPT_BODY_BYTES} bytes; null if they are no text in UTF-8.`),
      bodyIsCut: z.boolean().describe('Whether the body is longer.'),
    })
    .nullable()
    .describe(
      `What the receiver sent. Of the last ${KEPT_RESPONSES} attempts; null if there was no response.`,
    ),
});

/** A callback with its body and the attempts to send it. */
export const webhookDeliveryDetailSchema = z
  .strictObject({
    ...webhookDeliverySchema.shape,
    payload: webhookPayloadSchema,
    attempts: z.array(attemptSchema).describe(`The last ${MAX_RECENT_ATTEMPTS} attempts, in order.`),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

/** The body of `POST /user/webhook-deliveries/test`. */
export const webhookTestSchema = z
  .strictObject({ url: webhookUrlSchema.describe('The address of the receiver.') })
  .meta({ id: 'WebhookTest' });

/** The body of `POST /user/webhook-deliveries/redeliver-failed`, besides the terms of the list. */
export const redeliverFailedSchema = z.strictObject({
  since: moment.describe('Only callbacks created then or later.'),
});

export const redeliveredSchema = z
  .strictObject({
    redelivered: z.int().min(0).describe('Callbacks that are sent again.'),
    nextSince: time
      .nullable()
      .describe('The `since` of a further request, for those that are left; null if there are none.'),
  })
  .meta({ id: 'RedeliveredWebhooks' });

export const webhookDeliveryListSchema = z
  .strictObject({
    ...page,
    deliveries: z.array(webhookDeliverySchema),
    searchedTo: time
      .nullable()
      .describe(
        'Where a search goes on: its `to`, or with `created_asc` its `from`. Null if all was looked at.',
      ),
  })
  .meta({ id: 'WebhookDeliveryList' });

export const webhookKeyListSchema = z
  .strictObject({
    keys: z.array(
      z
        .strictObject({
          id: z.uuid().describe('The value of `X-Service-Key-Id` while this key is the newest.'),
          status: z
            .enum(['active', 'retiring'])
            .describe('`retiring`: signs together with the newest until it expires.'),
          createdAt: time,
          expiresAt: time.nullable(),
        })
        .meta({ id: 'WebhookKey' }),
    ),
  })
  .meta({ id: 'WebhookKeyList' });

export const newWebhookKeySchema = z
  .strictObject({
    id: z.uuid(),
    secret: z.string().describe('`whsec_` and the base64 of the key. It is only in this response.'),
  })
  .meta({ id: 'CreatedWebhookKey' });
