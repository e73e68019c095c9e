import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { CALLBACK_EVENTS } from '../../work/callbacks/delivery.ts';
import { webhookPayloadSchema } from '../account/webhook-schema.ts';

type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

const EVENTS: Readonly<Record<CallbackEvent, { readonly operationId: string; readonly summary: string }>> = {
  'batch.completed': {
    operationId: 'onBatchCompleted',
    summary: 'A batch has ended; items of it may have failed',
  },
  'render.completed': { operationId: 'onRenderCompleted', summary: 'A single render has its PDF' },
  'render.failed': { operationId: 'onRenderFailed', summary: 'A single render has failed or was cancelled' },
  'webhook.test': { operationId: 'onWebhookTest', summary: 'A test callback was asked for' },
};

/** The callbacks that receivers are sent, by their events. */
export function webhooks(headerPrefix: string): ZodOpenApiPathsObject {
  const header = headersOf(headerPrefix);
  return Object.fromEntries(
    CALLBACK_EVENTS.map((event) => {
      const post: ZodOpenApiOperationObject = {
        ...EVENTS[event],
        tags: ['Callbacks'],
        security: [],
        requestParams: { header },
        requestBody: { required: true, content: { 'application/json': { schema: webhookPayloadSchema } } },
        responses: {
          '2XX': {
            description:
              'Received. After any other response the callback is sent again, with pauses of up to 6 hours.',
          },
          '410': { description: 'The receiver is gone for good. No further attempt is made.' },
        },
      };
      return [event, { post }];
    }),
  );
}

function headersOf(prefix: string) {
  const text = (meaning: string) => z.string().describe(meaning);
  return z.object({
    [`${prefix}Delivery-Id`]: text('Names the callback; the same with every attempt.'),
    [`${prefix}Timestamp`]: text('Unix seconds of the attempt.'),
    [`${prefix}Signature-V2`]: text(
      '`v2,` and the base64 of HMAC-SHA256 over `deliveryId.timestamp.body`. While a key is being replaced there are several, separated by spaces.',
    ),
    [`${prefix}Key-Id`]: text('The id of the newest key that signed.'),
    'webhook-id': text('The delivery id, as Standard Webhooks has it.'),
    'webhook-timestamp': text('The timestamp, as Standard Webhooks has it.'),
    'webhook-signature': text('The same signature as `v1,` and base64, as Standard Webhooks has it.'),
  });
}
