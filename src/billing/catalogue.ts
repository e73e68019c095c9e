import { PlatenError } from '../errors/registry.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { METADATA } from './stripe-snapshots.ts';

/** PDFs of a block that is bought beyond the quota. */
export const BLOCK_SIZES = [1000, 5000, 10_000] as const;
export type BlockSize = (typeof BLOCK_SIZES)[number];

/** What setup asks for a block, in US cents. What one costs is what its price at Stripe says. */
export const DEFAULT_BLOCK_CENTS: Readonly<Record<BlockSize, number>> = {
  1000: 1000,
  5000: 4500,
  10000: 8000,
};

/** Plans that the interface sells. */
export const SOLD_PLANS = ['starter', 'professional', 'business'] as const;
export type SoldPlan = (typeof SOLD_PLANS)[number];

/** What is paid with. */
export const CURRENCY = 'usd';

/** What is to be sold now. Which plan a subscription has is read from its price itself, which may be an older one. */
export interface Price {
  readonly id: string;
  readonly amountCents: number;
}

export function planLookupKey(plan: string): string {
  return `platen_plan_${plan}_monthly`;
}

export function blockLookupKey(size: BlockSize): string {
  return `platen_block_${size}`;
}

/** Finds prices by their lookup keys, so that another price can be put in their place at Stripe. */
export class Catalogue {
  readonly #gateway: StripeGateway;

  constructor(gateway: StripeGateway) {
    this.#gateway = gateway;
  }

  /** @throws PlatenError NOT_SOLD */
  async plan(plan: string): Promise<Price> {
    const price = await this.#find(planLookupKey(plan));
    if (price?.metadata[METADATA.plan] !== plan || price.recurring === null)
      throw notSold(`The plan ${plan}`);
    return { id: price.id, amountCents: price.unit_amount ?? 0 };
  }

  /** @throws PlatenError NOT_SOLD */
  async block(size: BlockSize): Promise<Price> {
    const price = await this.#find(blockLookupKey(size));
    const fits = price?.metadata[METADATA.block] === String(size) && price.currency === CURRENCY;
    if (price === undefined || !fits || price.unit_amount === null || price.unit_amount < 1) {
      throw notSold(`A block of ${size} PDFs`);
    }
    return { id: price.id, amountCents: price.unit_amount };
  }

  async #find(lookupKey: string) {
    const { data } = await this.#gateway.stripe.prices.list({ lookup_keys: [lookupKey], active: true });
    return data[0];
  }
}

function notSold(what: string): PlatenError {
  return new PlatenError('NOT_SOLD', `${what} is not sold at the moment.`);
}
