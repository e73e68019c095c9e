import type { Purchases } from '../../jobs/ledger/purchases.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { StripeBlocks } from '../stripe-blocks.ts';
import type { AutoOverage } from './auto-overage.ts';
import type { Block, BlockStore } from './block-store.ts';

/** What became of a payment after it had succeeded. */
export interface ChargeFate {
  /** The payment; null of a charge that has none. */
  readonly intentId: string | null;
  readonly refundedCents: number;
  readonly dispute: 'none' | 'open' | 'won' | 'lost';
}

export interface ReversalParts {
  readonly blocks: BlockStore;
  readonly purchases: Purchases;
  readonly autoOverage: AutoOverage;
  readonly gateway: Pick<StripeBlocks, 'charges'>;
  readonly emailOf: (accountId: string) => Promise<string | null>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
}

/**
 * Follows money that goes back: a refund takes back what is left of a block; a dispute freezes the block until it is
 * decided, and nothing is bought by itself meanwhile. Neither makes room under the cap.
 */
export class Reversals {
  readonly #parts: ReversalParts;

  constructor(parts: ReversalParts) {
    this.#parts = parts;
  }

  async follow(accountId: string, customerId: string): Promise<void> {
    const { blocks, autoOverage, gateway } = this.#parts;
    const paid = await blocks.paidOf(accountId);
    const buys = (await autoOverage.of(accountId))?.enabled === true;
    if (paid.length === 0 && !buys) return;
    const charges = await gateway.charges(customerId);
    for (const block of paid) {
      const fate = charges.find(({ intentId }) => intentId === block.intentId);
      if (fate !== undefined) await this.#apply(block, fate);
    }
    if (buys && charges.some(({ dispute }) => dispute === 'open')) await this.#stopBuying(accountId);
  }

  async #apply(block: Block, { refundedCents, dispute }: ChargeFate): Promise<void> {
    const { blocks, purchases } = this.#parts;
    const { _id, accountId, state } = block;
    if (refundedCents > 0 || dispute === 'lost') {
      await purchases.withdraw(accountId, _id, 'taken');
      await blocks.move(_id, state, 'reversed');
    } else if (dispute === 'open') {
      await purchases.withdraw(accountId, _id, 'frozen');
      await blocks.move(_id, 'granted', 'frozen');
    } else if (state === 'frozen') {
      await purchases.withdraw(accountId, _id, 'usable');
      await blocks.move(_id, 'frozen', 'granted');
    }
  }

  async #stopBuying(accountId: string): Promise<void> {
    const { autoOverage, emailOf, outbox } = this.#parts;
    if (!(await autoOverage.disable(accountId, 'dispute'))) return;
    const to = await emailOf(accountId);
    if (to === null) return;
    const cycle = (await autoOverage.of(accountId))?.cycle ?? '';
    await outbox.enqueue({
      id: `${accountId}:dispute:${cycle}`,
      accountId,
      to,
      kind: 'auto-overage-disabled',
      values: { because: 'dispute' },
    });
  }
}
