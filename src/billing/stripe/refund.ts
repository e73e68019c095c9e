import type Stripe from 'stripe';

/**
 * Refunds the part of a payment that has not been refunded. A repetition changes nothing more, whatever its key: the
 * sum is read first, and Stripe gives back no more than was paid.
 *
 * @throws Stripe's rejection.
 */
export async function payBack(stripe: Stripe, intent: string, idempotencyKey: string): Promise<void> {
  const [{ amount_received: received }, back] = await Promise.all([
    stripe.paymentIntents.retrieve(intent),
    refundedOf(stripe, { payment_intent: intent }),
  ]);
  if (back >= received) return;
  await stripe.refunds.create({ payment_intent: intent, reason: 'duplicate' }, { idempotencyKey });
}

/** The cents that have been refunded of a payment. Refunds fail days later, so they are added up. */
export async function refundedOf(
  stripe: Stripe,
  of: { readonly charge: string } | { readonly payment_intent: string },
): Promise<number> {
  const { data } = await stripe.refunds.list({ ...of, limit: 100 });
  return data
    .filter(({ status }) => status !== 'failed' && status !== 'canceled')
    .reduce((sum, { amount }) => sum + amount, 0);
}
