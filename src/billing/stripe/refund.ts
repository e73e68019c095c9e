import type Stripe from 'stripe';

/**
 * Refunds the part of a payment that has not been refunded. A repetition changes nothing more, whatever its key: the
 * sum is read first, and Stripe gives back no more than was paid.
 *
 * @throws Stripe's rejection.
 */
export async function payBack(stripe: Stripe, intent: string, idempotencyKey: string): Promise<void> {
  const [{ amount_received: received }, refunds] = await Promise.all([
    stripe.paymentIntents.retrieve(intent),
    stripe.refunds.list({ payment_intent: intent, limit: 100 }),
  ]);
  const back = refunds.data
    .filter(({ status }) => status !== 'failed' && status !== 'canceled')
    .reduce((sum, { amount }) => sum + amount, 0);
  if (back >= received) return;
  await stripe.refunds.create({ payment_intent: intent, reason: 'duplicate' }, { idempotencyKey });
}
