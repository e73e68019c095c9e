import type { Clock } from '../../infra/clock.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import { openDisputesSince } from '../stripe/stripe-lists.ts';
import type { BillingStore } from '../subscriptions/billing-store.ts';
import { type BlockStore, REVERSIBLE_MS } from './block-store.ts';

/** The object that a disputed payment was for. */
type DisputedKind = 'subscription' | 'block';

interface DisputesDeps {
  readonly store: Pick<BillingStore, 'findByCustomer'>;
  readonly blocks: Pick<BlockStore, 'paidOf'>;
  readonly gateway: Pick<StripeGateway, 'stripe'>;
  readonly clock: Clock;
}

const MOST = 1_000;

/**
 * Payments that banks dispute. Reversals (reversals.ts) handle what a dispute means for blocks; that a dispute
 * exists needs an operator's response in time, whatever the payment was for.
 */
export class Disputes {
  readonly #deps: DisputesDeps;

  constructor(deps: DisputesDeps) {
    this.#deps = deps;
  }

  /** How many disputes of our customers' payments are open, by what was paid; at most 1,000 are counted. */
  async open(): Promise<Readonly<Record<DisputedKind, number>>> {
    const { gateway, clock } = this.#deps;
    const since = new Date(clock.now().getTime() - REVERSIBLE_MS);
    const counts = { subscription: 0, block: 0 };
    for (const dispute of await openDisputesSince(gateway.stripe, since, MOST)) {
      const kind = await this.#kindOf(dispute);
      if (kind !== undefined) counts[kind] += 1;
    }
    return counts;
  }

  /** @returns undefined for a payment that is not ours: the account at Stripe may serve others too. */
  async #kindOf({ customerId, intentId }: { customerId: string | null; intentId: string | null }) {
    const { store, blocks } = this.#deps;
    const account = customerId === null ? undefined : await store.findByCustomer(customerId);
    if (account === undefined) return undefined;
    const paid = await blocks.paidOf(account._id);
    return paid.some((block) => block.intentId === intentId) ? 'block' : 'subscription';
  }
}
