import type { Clock } from '../../clock.ts';
import type { Causes } from '../../jobs/ledger/bought-changes.ts';
import {
  type BoughtBlock,
  type Standing,
  standsAlike,
  withStanding,
} from '../../jobs/ledger/bought-units.ts';
import type { Purchases } from '../../jobs/ledger/purchases.ts';
import { type BillingStore, CARRIED_ON, type ClaimedAccount } from '../billing-store.ts';
import { type Readings, readRound } from '../readings.ts';
import type { StripeBlocks } from '../stripe-blocks.ts';
import type { AutoOverage } from './auto-overage.ts';
import { type Block, type BlockState, type BlockStore, LOOKED_AFTER_MS } from './block-store.ts';

/** What became of a payment after it had succeeded. */
export interface ChargeFate {
  /** The payment; null of a charge that has none, or was declined. */
  readonly intentId: string | null;
  readonly madeAt: Date;
  readonly paidCents: number;
  /** By refunds that have not failed; those that are under way count. */
  readonly refundedCents: number;
  readonly dispute: 'none' | 'open' | 'won' | 'lost';
}

export interface ReversalParts {
  readonly blocks: BlockStore;
  readonly purchases: Purchases;
  readonly autoOverage: AutoOverage;
  readonly gateway: Pick<StripeBlocks, 'charges'>;
  readonly store: Pick<BillingStore, 'carryOn'>;
  readonly readings: Readings;
  readonly clock: Clock;
}

/** Payments that one pass looks at; the next follows at once. */
const CHARGES_A_PASS = 500;

type Fate = Pick<ChargeFate, 'paidCents' | 'refundedCents' | 'dispute'>;

/**
 * What a block stands at by its payment. Pure, and of nothing before: a refund that fails or a dispute that is won gives
 * back what it took, in whichever order that is heard of. Of a payment that was refunded in part, that part of the block's
 * PDFs is taken back, rounded down.
 *
 * @param units of the whole block.
 */
export function standingBy({ paidCents, refundedCents, dispute }: Fate, units: number): Standing {
  const wholly = refundedCents > 0 && refundedCents >= paidCents;
  if (wholly || dispute === 'lost') return { frozen: false, back: units };
  return {
    frozen: dispute === 'open',
    back: refundedCents === 0 ? 0 : Math.floor((units * refundedCents) / paidCents),
  };
}

function stateOf({ frozen, back }: Standing, units: number): BlockState {
  if (back >= units) return 'reversed';
  return frozen ? 'frozen' : 'granted';
}

/** Why a block stands as it does, for the audit log. */
function causesOf({ paidCents, refundedCents, dispute }: Fate): Causes {
  const inPart = refundedCents < paidCents;
  const ofRefund = {
    cause: 'refund',
    ...(inPart && { refundedCents: String(refundedCents), paidCents: String(paidCents) }),
  };
  return {
    taken: inPart && dispute === 'lost' ? { cause: 'dispute lost' } : ofRefund,
    frozen: 'dispute',
    returned: dispute === 'won' ? 'dispute won' : 'refund failed',
  };
}

/**
 * Follows money that goes back: a refund takes back what is left of a block, or the part of it that was refunded, until it fails; a dispute freezes the block
 * until it is decided, and nothing is bought by itself meanwhile. Neither makes room under the cap.
 */
export class Reversals {
  readonly #parts: ReversalParts;

  constructor(parts: ReversalParts) {
    this.#parts = parts;
  }

  /** Looks through the payments as far back as a block may still be refunded, in passes of a bound. */
  async follow(account: ClaimedAccount): Promise<void> {
    const { blocks, purchases, autoOverage, gateway, readings, store, clock } = this.#parts;
    const { _id: accountId, customerId, cause } = account;
    const paid = await blocks.paidOf(accountId);
    const { overage, bought } = (await purchases.find(accountId)) ?? {};
    const buys = overage?.enabled === true;
    if (paid.length === 0 && !buys) return;
    const oldest = paid.map(({ createdAt }) => createdAt.getTime()).sort((a, b) => a - b)[0];
    const lookedAfter = clock.now().getTime() - LOOKED_AFTER_MS;
    // A dispute of anything that was paid stops the buying, also of what is no block.
    const from = new Date(buys || oldest === undefined ? lookedAfter : oldest);
    const list = `charges:${customerId}`;
    const { round } = await readings.find(list);
    const {
      items: charges,
      known,
      complete,
    } = await readRound(
      round,
      { from, bound: CHARGES_A_PASS, news: cause !== CARRIED_ON },
      (range, most) => gateway.charges(customerId, range, most),
      ({ madeAt }) => madeAt,
    );
    for (const block of paid) {
      const fate = charges.find(({ intentId }) => intentId === block.intentId);
      if (fate !== undefined) await this.#apply(block, bought?.blocks[block._id], fate);
    }
    if (buys && charges.some(({ dispute }) => dispute === 'open')) {
      await autoOverage.disable(accountId, 'dispute');
    }
    if (round !== undefined || known !== undefined) await readings.keepRound(list, known);
    if (!complete) await store.carryOn(account);
  }

  /** In this order: as long as the block is not noted to stand so, its units are looked at again. */
  async #apply(
    { _id, accountId, state, units }: Block,
    bought: BoughtBlock | undefined,
    fate: ChargeFate,
  ): Promise<void> {
    const { blocks, purchases } = this.#parts;
    const standing = standingBy(fate, units);
    if (bought !== undefined && !standsAlike(bought, withStanding(bought, standing))) {
      await purchases.withdraw(accountId, _id, standing, causesOf(fate));
    }
    const now = stateOf(standing, units);
    if (state !== now) await blocks.move(_id, state, now);
  }
}
