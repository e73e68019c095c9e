import { type BoughtBlock, type Standing, standingOf } from '../../jobs/ledger/bought-units.ts';
import type { Purchases } from '../../jobs/ledger/purchases.ts';
import type { StripeBlocks } from '../stripe-blocks.ts';
import type { AutoOverage } from './auto-overage.ts';
import type { Block, BlockState, BlockStore } from './block-store.ts';

/** What became of a payment after it had succeeded. */
export interface ChargeFate {
  /** The payment; null of a charge that has none. */
  readonly intentId: string | null;
  /** By refunds that have not failed; those that are under way count. */
  readonly refundedCents: number;
  readonly dispute: 'none' | 'open' | 'won' | 'lost';
}

export interface ReversalParts {
  readonly blocks: BlockStore;
  readonly purchases: Purchases;
  readonly autoOverage: AutoOverage;
  readonly gateway: Pick<StripeBlocks, 'charges'>;
}

const STATES: Readonly<Record<Standing, BlockState>> = {
  usable: 'granted',
  frozen: 'frozen',
  taken: 'reversed',
};

/**
 * What a block stands at by its payment. Pure, and of nothing before: a refund that fails or a dispute that is won gives
 * back what it took, in whichever order that is heard of.
 */
export function standingBy({ refundedCents, dispute }: Omit<ChargeFate, 'intentId'>): Standing {
  if (refundedCents > 0 || dispute === 'lost') return 'taken';
  return dispute === 'open' ? 'frozen' : 'usable';
}

/**
 * Follows money that goes back: a refund takes back what is left of a block, until it fails; a dispute freezes the block
 * until it is decided, and nothing is bought by itself meanwhile. Neither makes room under the cap.
 */
export class Reversals {
  readonly #parts: ReversalParts;

  constructor(parts: ReversalParts) {
    this.#parts = parts;
  }

  async follow(accountId: string, customerId: string): Promise<void> {
    const { blocks, purchases, autoOverage, gateway } = this.#parts;
    const paid = await blocks.paidOf(accountId);
    const { overage, bought } = (await purchases.find(accountId)) ?? {};
    const buys = overage?.enabled === true;
    if (paid.length === 0 && !buys) return;
    const charges = await gateway.charges(customerId);
    for (const block of paid) {
      const fate = charges.find(({ intentId }) => intentId === block.intentId);
      if (fate !== undefined) await this.#apply(block, bought?.blocks[block._id], standingBy(fate));
    }
    if (buys && charges.some(({ dispute }) => dispute === 'open')) {
      await autoOverage.disable(accountId, 'dispute');
    }
  }

  /** In this order: as long as the block is not noted to stand so, its units are looked at again. */
  async #apply(
    { _id, accountId, state }: Block,
    units: BoughtBlock | undefined,
    standing: Standing,
  ): Promise<void> {
    const { blocks, purchases } = this.#parts;
    if (units !== undefined && standingOf(units) !== standing) {
      await purchases.withdraw(accountId, _id, standing);
    }
    if (state !== STATES[standing]) await blocks.move(_id, state, STATES[standing]);
  }
}
