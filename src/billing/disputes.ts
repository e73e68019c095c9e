import type { Clock } from '../clock.ts';
import type { BillingStore } from './billing-store.ts';
import { type BlockStore, LOOKED_AFTER_MS } from './overage/block-store.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { openDisputesSince } from './stripe-lists.ts';

/** What somebody has paid for whose bank wants the money back. */
export type DisputedKind = 'subscription' | 'block';

export interface DisputesParts {
  readonly store: Pick<BillingStore, 'findByCustomer'>;
  readonly blocks: Pick<BlockStore, 'paidOf'>;
  readonly gateway: Pick<StripeGateway, 'stripe'>;
  readonly clock: Clock;
}

const MOST = 1_000;

/**
 * Payments that banks dispute. What follows from one for blocks is seen to with the account (overage/reversals.ts); that there
 * is one is to be answered in time by an operator, whatever was paid.
 */
export class Disputes {
  readonly #parts: DisputesParts;

  constructor(parts: DisputesParts) {
    this.#parts = parts;
  }

  /** How many are open of the customers that we know, by what was paid; at most a thousand are looked at. */
  async open(): Promise<Readonly<Record<DisputedKind, number>>> {
    const { gateway, clock } = this.#parts;
    const since = new Date(clock.now().getTime() - LOOKED_AFTER_MS);
    const counts = { subscription: 0, block: 0 };
    for (const dispute of await openDisputesSince(gateway.stripe, since, MOST)) {
      const kind = await this.#kindOf(dispute);
      if (kind !== undefined) counts[kind] += 1;
    }
    return counts;
  }

  /** @returns undefined when it is about nothing of ours: the account at Stripe may serve others too. */
  async #kindOf({ customerId, intentId }: { customerId: string | null; intentId: string | null }) {
    const { store, blocks } = this.#parts;
    const account = customerId === null ? undefined : await store.findByCustomer(customerId);
    if (account === undefined) return undefined;
    const paid = await blocks.paidOf(account._id);
    return paid.some((block) => block.intentId === intentId) ? 'block' : 'subscription';
  }
}
