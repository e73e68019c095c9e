import type Stripe from 'stripe';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { METADATA } from './stripe-snapshots.ts';

/** PDFs of a block that is bought beyond the quota. */
export const BLOCK_SIZES = [1000, 5000, 10_000] as const;
export type BlockSize = (typeof BLOCK_SIZES)[number];

/** The price that setup creates for a block, in US cents. What a block costs is what its price at Stripe says. */
export const DEFAULT_BLOCK_CENTS: Readonly<Record<BlockSize, number>> = {
  1000: 1000,
  5000: 4500,
  10000: 8000,
};

/** Plans that the interface sells. */
export const SOLD_PLANS = ['starter', 'professional', 'business'] as const;
export type SoldPlan = (typeof SOLD_PLANS)[number];

/** The currency of all prices. */
export const CURRENCY = 'usd';

/** A price to be sold now. The plan of a subscription is read from its own price, which may be an older one. */
export interface Price {
  readonly id: string;
  readonly amountCents: number;
}

/** A block and what it costs at present. */
export interface PricedBlock {
  readonly blockSize: BlockSize;
  readonly priceCents: number;
}

/** How long the list of blocks is kept, in milliseconds: pages ask for it, and Stripe is asked once for all of them. */
const LISTED_MS = 60_000;

export function planLookupKey(plan: string): string {
  return `platen_plan_${plan}_monthly`;
}

export function blockLookupKey(size: BlockSize): string {
  return `platen_block_${size}`;
}

/** Finds prices by their lookup keys, so that an operator can replace a price at Stripe. */
export class Catalogue {
  readonly #gateway: StripeGateway;
  readonly #listed: TtlCache<'blocks', readonly PricedBlock[]>;

  constructor(gateway: StripeGateway, clock: Clock) {
    this.#gateway = gateway;
    this.#listed = new TtlCache(LISTED_MS, 1, clock);
  }

  /** @throws PlatenError NOT_SOLD where the price is missing or not fit to be sold for. */
  async plan(plan: string): Promise<Price> {
    return this.#find(`The plan ${plan}`, planLookupKey(plan), planPrice(plan));
  }

  /** @throws PlatenError NOT_SOLD as `plan` does. */
  async block(size: BlockSize): Promise<Price> {
    return this.#find(`A block of ${size} PDFs`, blockLookupKey(size), blockPrice(size));
  }

  /** The blocks that are sold, to be shown: what is bought is charged by `block`. Those without a fit price are left out. */
  blocks(): Promise<readonly PricedBlock[]> {
    return this.#listed.get('blocks', async () => {
      const lookup_keys = BLOCK_SIZES.map(blockLookupKey);
      const { data } = await this.#gateway.stripe.prices.list({ lookup_keys, active: true });
      return BLOCK_SIZES.flatMap((blockSize) => {
        const price = data.find(({ lookup_key: key }) => key === blockLookupKey(blockSize));
        const isSold = price !== undefined && wrongWith(price, blockPrice(blockSize)).length === 0;
        return isSold ? [{ blockSize, priceCents: price.unit_amount ?? 0 }] : [];
      });
    });
  }

  async #find(what: string, lookupKey: string, expected: ExpectedPrice): Promise<Price> {
    const { data } = await this.#gateway.stripe.prices.list({ lookup_keys: [lookupKey], active: true });
    const [price] = data;
    const wrong = price === undefined ? ['is missing'] : wrongWith(price, expected);
    if (price === undefined || wrong.length > 0) {
      const why = `its price ${lookupKey} ${wrong.join(', ')}`;
      throw new PlatenError('NOT_SOLD', `${what} is not sold at the moment: ${why}.`);
    }
    return { id: price.id, amountCents: price.unit_amount ?? 0 };
  }
}

/** Properties that a price must have to be sold; Stripe sets its amount. */
export interface ExpectedPrice {
  /** Charged each month, or else once. */
  readonly monthly: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

export function planPrice(plan: string): ExpectedPrice {
  return { monthly: true, metadata: { [METADATA.plan]: plan } };
}

export function blockPrice(size: BlockSize): ExpectedPrice {
  return { monthly: false, metadata: { [METADATA.block]: String(size) } };
}

/** The reasons why a price cannot be sold for. */
export function wrongWith(price: Stripe.Price, { monthly, metadata }: ExpectedPrice): string[] {
  const { currency, recurring, unit_amount: cents } = price;
  const lacks = Object.entries(metadata).filter(([name, value]) => price.metadata[name] !== value);
  return [
    ...(currency === CURRENCY ? [] : [`is in ${currency}`]),
    ...(hasRhythm(recurring, monthly) ? [] : [`is charged ${rhythmOf(recurring)}`]),
    // A block for nothing could be bought without limit.
    ...(cents === null || (cents < 1 && !monthly) ? ['has no fixed amount'] : []),
    ...lacks.map(([name, value]) => `lacks the metadata ${name}: ${value}`),
  ];
}

function hasRhythm(recurring: Stripe.Price['recurring'], monthly: boolean): boolean {
  if (recurring === null) return !monthly;
  const { interval, interval_count: count, usage_type: usage } = recurring;
  return monthly && interval === 'month' && count === 1 && usage === 'licensed';
}

function rhythmOf(recurring: Stripe.Price['recurring']): string {
  if (recurring === null) return 'once';
  const { interval, interval_count: count, usage_type: usage } = recurring;
  if (usage !== 'licensed') return 'by use';
  return count === 1 ? `every ${interval}` : `every ${count} ${interval}s`;
}
