import type Stripe from 'stripe';
import type { StripeStandIn } from '../../support/stripe/stand-in.ts';

/** Prices of a plan each, as an operator's account has them. */
export async function makePrices(
  stripe: Stripe,
): Promise<{ starter: string; professional: string; block: string }> {
  const product = await stripe.products.create({ name: 'Platen', metadata: { platen: 'plan' } });
  const monthly = (plan: string, unit_amount: number) =>
    stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount,
      lookup_key: `platen_${plan}`,
      recurring: { interval: 'month' },
      metadata: { plan },
    });
  const starter = await monthly('starter', 1_900);
  const professional = await monthly('professional', 7_900);
  const block = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1_000,
    lookup_key: 'platen_block_1000',
  });
  return { starter: starter.id, professional: professional.id, block: block.id };
}

/** A customer that has paid for a plan by Checkout. */
export async function makeSubscriber(
  standIn: StripeStandIn,
  stripe: Stripe,
  price: string,
  card: 'good' | 'authenticates' = 'good',
): Promise<{ customer: string; subscription: string }> {
  const { id: customer } = await stripe.customers.create({ email: 'ada@example.com' });
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price, quantity: 1 }],
    success_url: 'https://platen.test/dashboard/billing',
    subscription_data: { metadata: { accountId: 'account' } },
  });
  standIn.acts.completeCheckout(session.id, card);
  const done = await stripe.checkout.sessions.retrieve(session.id);
  return { customer, subscription: String(done.subscription) };
}
