import type Stripe from 'stripe';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import {
  BLOCK_SIZES,
  blockLookupKey,
  blockPrice,
  CURRENCY,
  DEFAULT_BLOCK_CENTS,
  type ExpectedPrice,
  planLookupKey,
  planPrice,
  SOLD_PLANS,
  wrongWith,
} from './stripe/catalogue.ts';
import {
  isRejection,
  PORTAL_METADATA,
  STRIPE_API_VERSION,
  type StripeGateway,
} from './stripe/stripe-gateway.ts';
import { EVENT_TYPES } from './subscriptions/payment-events.ts';

/** Something that is sold: a product with one price. */
interface Item extends ExpectedPrice {
  readonly productId: string;
  readonly name: string;
  readonly lookupKey: string;
  readonly amountCents: number;
}

interface SetupResult {
  /** Changes that were made, or differences that were found, one per line. */
  readonly lines: readonly string[];
  /** The secret of a webhook endpoint that was made just now; it is shown this once. */
  readonly webhookSecret?: string;
}

const PORTAL_FEATURES: Stripe.BillingPortal.ConfigurationCreateParams.Features = {
  customer_update: { enabled: true, allowed_updates: ['email', 'name', 'address'] },
  invoice_history: { enabled: true },
  payment_method_update: { enabled: true },
  subscription_cancel: { enabled: true, mode: 'at_period_end' },
  // Plans are changed here, where schedules and quota are known.
  subscription_update: { enabled: false },
};

/** Makes at Stripe what is missing and leaves everything else, so it can be run again. */
export async function setUpStripe(
  { stripe }: StripeGateway,
  plans: PlanSource,
  webhookUrl: string,
): Promise<SetupResult> {
  const lines: string[] = [];
  for (const item of itemsOf(plans)) {
    if ((await priceOf(stripe, item)) !== undefined) continue;
    await makeProduct(stripe, item);
    const { id } = await stripe.prices.create({
      product: item.productId,
      currency: CURRENCY,
      unit_amount: item.amountCents,
      lookup_key: item.lookupKey,
      // Nothing is sold under the key now: another price that holds it is archived, and would be in the way.
      transfer_lookup_key: true,
      metadata: item.metadata,
      ...(item.monthly && { recurring: { interval: 'month' } }),
    });
    lines.push(`made the price ${item.lookupKey} (${id}): ${dollars(item.amountCents)}`);
  }
  if ((await portalOf(stripe)) === undefined) {
    const { id } = await stripe.billingPortal.configurations.create({
      features: PORTAL_FEATURES,
      metadata: PORTAL_METADATA,
    });
    lines.push(`made the portal configuration ${id}`);
  }
  const endpoint = await endpointOf(stripe, webhookUrl);
  if (endpoint !== undefined) {
    if (!hasAllEvents(endpoint)) {
      await stripe.webhookEndpoints.update(endpoint.id, { enabled_events: [...EVENT_TYPES] });
      lines.push(`set the events that the webhook endpoint ${endpoint.id} sends`);
    }
    return { lines };
  }
  const { id, secret } = await stripe.webhookEndpoints.create({
    url: webhookUrl,
    enabled_events: [...EVENT_TYPES],
    api_version: STRIPE_API_VERSION,
  });
  lines.push(`made the webhook endpoint ${id}: ${webhookUrl}`);
  return { lines, ...(secret !== undefined && { webhookSecret: secret }) };
}

/** Lists the objects that are missing at Stripe or differ from the expected ones. Changes nothing. */
export async function checkStripe(
  { stripe }: StripeGateway,
  plans: PlanSource,
  webhookUrl: string,
): Promise<SetupResult> {
  const lines: string[] = [];
  for (const item of itemsOf(plans)) {
    const price = await priceOf(stripe, item);
    if (price === undefined) lines.push(`the price ${item.lookupKey} is missing`);
    else lines.push(...differences(item, price).map((what) => `the price ${item.lookupKey} ${what}`));
  }
  const portal = await portalOf(stripe);
  if (portal === undefined) lines.push('the portal configuration is missing');
  else if (portal.features.subscription_update.enabled) {
    lines.push(`the portal configuration ${portal.id} lets customers change plans`);
  }
  const endpoint = await endpointOf(stripe, webhookUrl);
  if (endpoint === undefined) return { lines: [...lines, `the webhook endpoint ${webhookUrl} is missing`] };
  if (endpoint.status !== 'enabled') lines.push(`the webhook endpoint ${endpoint.id} is ${endpoint.status}`);
  if (!hasAllEvents(endpoint)) lines.push(`the webhook endpoint ${endpoint.id} is not sent every event`);
  if (endpoint.api_version !== STRIPE_API_VERSION) {
    const version = endpoint.api_version ?? 'the default';
    lines.push(
      `the webhook endpoint ${endpoint.id} has version ${version} and not ${STRIPE_API_VERSION}: delete it and run setup`,
    );
  }
  return { lines };
}

function itemsOf(plans: PlanSource): Item[] {
  const sold = SOLD_PLANS.filter((plan) => plans.has(plan)).map((plan) => ({
    productId: `platen_plan_${plan}`,
    name: `Platen ${plan}`,
    lookupKey: planLookupKey(plan),
    amountCents: plans.plan(plan).priceCentsPerMonth,
    ...planPrice(plan),
  }));
  const blocks = BLOCK_SIZES.map((size) => ({
    productId: `platen_block_${size}`,
    name: `${size} PDFs`,
    lookupKey: blockLookupKey(size),
    amountCents: DEFAULT_BLOCK_CENTS[size],
    ...blockPrice(size),
  }));
  return [...sold, ...blocks];
}

function differences(item: Item, price: Stripe.Price): string[] {
  const { unit_amount: cents } = price;
  const others = wrongWith(price, item);
  if (cents === null || cents === item.amountCents) return others;
  return [`is ${dollars(cents)} and not ${dollars(item.amountCents)}`, ...others];
}

async function priceOf(stripe: Stripe, { lookupKey }: Item): Promise<Stripe.Price | undefined> {
  return (await stripe.prices.list({ lookup_keys: [lookupKey], active: true })).data[0];
}

async function makeProduct(stripe: Stripe, { productId, name }: Item): Promise<void> {
  try {
    await stripe.products.retrieve(productId);
  } catch (error) {
    if (!isRejection(error)) throw error;
    await stripe.products.create({ id: productId, name });
  }
}

async function portalOf(stripe: Stripe): Promise<Stripe.BillingPortal.Configuration | undefined> {
  const { data } = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  return data.find(({ metadata }) => metadata?.platen === PORTAL_METADATA.platen);
}

async function endpointOf(stripe: Stripe, url: string): Promise<Stripe.WebhookEndpoint | undefined> {
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  return data.find((endpoint) => endpoint.url === url);
}

function hasAllEvents({ enabled_events: events }: Stripe.WebhookEndpoint): boolean {
  return events.includes('*') || EVENT_TYPES.every((type) => events.includes(type));
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
