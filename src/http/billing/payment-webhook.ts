import { z } from 'zod';
import { BadEvent } from '../../billing/subscriptions/payment-events.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Billing'], auth: 'none' });

/** Bytes; events have a few kilobytes. */
const MAX_BYTES = 1024 * 1024;

const receive = defineRoute('POST /webhooks/payments', {
  operationId: 'receivePaymentEvent',
  summary: 'Receive an event of the payment provider',
  description:
    "Called by the payment provider. The signature covers the bytes of the body, in Stripe's form `t=…,v1=…`. An event is only a hint: Platen then reads the state from the provider. The response to an event that is not accepted, such as one that is too large, is 400, after which the provider sends it again.",
  headers: z.object({
    'payments-signature': z.string().max(4096).optional().describe('The signature.'),
    'stripe-signature': z
      .string()
      .max(4096)
      .optional()
      .describe('The signature, in the header that Stripe uses.'),
  }),
  rawBody: {
    maxBytes: MAX_BYTES,
    description: 'The event, byte for byte as it was signed.',
    rejectedAs: 'PAYMENT_EVENT_REFUSED',
  },
  responses: {
    200: {
      description: 'The event was accepted, now or before, or is of a kind that Platen ignores.',
      schema: z.strictObject({ received: z.boolean() }).meta({ id: 'PaymentEventReceipt' }),
    },
  },
  errors: ['PAYMENT_EVENT_REFUSED', 'BILLING_NOT_CONFIGURED'],
}).handledBy(async ({ headers, rawBody }, { billing, metrics, logger }: ApiDeps) => {
  const events = billing.selling?.events;
  if (events?.canVerify !== true) throw new PlatenError('BILLING_NOT_CONFIGURED');
  const signature = headers['payments-signature'] ?? headers['stripe-signature'];
  if (signature === undefined) {
    metrics.paymentEvents.inc({ outcome: 'refused' });
    throw new PlatenError('PAYMENT_EVENT_REFUSED', 'The header payments-signature is required.');
  }
  try {
    const { outcome, ageSeconds } = await events.accept(rawBody, signature);
    metrics.paymentEvents.inc({ outcome });
    metrics.paymentEventAge.observe(ageSeconds);
    return { status: 200, json: { received: true } };
  } catch (error) {
    const forged = error instanceof BadEvent;
    metrics.paymentEvents.inc({ outcome: forged ? 'refused' : 'failed' });
    logger.warn({ err: error }, 'event of the payment provider was not accepted');
    // Also for an error of the service: the provider sends an event again unless the response is 200.
    throw new PlatenError(
      'PAYMENT_EVENT_REFUSED',
      forged ? 'The signature does not fit the event, or is too old.' : undefined,
      { cause: error },
    );
  }
});

export const paymentWebhookRoutes = [receive];
