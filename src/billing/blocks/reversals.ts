import type { Core } from '../../infra/core.ts';
import type { Causes } from '../../work/jobs/blocks/block-changes.ts';
import {
  type LedgerBlock,
  type Standing,
  standsAlike,
  withStanding,
} from '../../work/jobs/ledger/block-balance.ts';
import type { Jobs } from '../../work/jobs/open-jobs.ts';
import { type ListCursors, readRound } from '../stripe/list-cursors.ts';
import type { ChargeFate, StripeBlocks } from '../stripe/stripe-blocks.ts';
import { type BillingStore, CARRIED_ON, type ClaimedAccount } from '../subscriptions/billing-store.ts';
import type { AutoOverage } from './auto-overage.ts';
import { type Block, type BlockState, type BlockStore, REVERSIBLE_MS } from './block-store.ts';

export interface ReversalDeps extends Pick<Jobs, 'blockLedger'>, Pick<Core, 'clock'> {
  readonly blocks: BlockStore;
  readonly autoOverage: AutoOverage;
  readonly gateway: Pick<StripeBlocks, 'charges'>;
  readonly store: Pick<BillingStore, 'carryOn'>;
  readonly cursors: ListCursors;
}

/** Payments that one pass checks; the next pass follows at once. */
const CHARGES_A_PASS = 500;

type Fate = Pick<ChargeFate, 'paidCents' | 'refundedCents' | 'dispute'>;

/**
 * The standing of a block by its payment. Pure, and independent of earlier states: a refund that fails or a dispute
 * that is won gives back what it took, in any order of events. A partial refund takes back that part of the block's
 * PDFs, rounded down.
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
 * Follows money that goes back. A refund takes back what is left of a block, or the refunded part of it, until the
 * refund fails; a dispute freezes the block until it is decided, and nothing is bought automatically meanwhile. Neither
 * makes room under the cap.
 */
export class Reversals {
  readonly #deps: ReversalDeps;

  constructor(deps: ReversalDeps) {
    this.#deps = deps;
  }

  /** Reads the payments as far back as a block may still be refunded, in passes of at most `CHARGES_A_PASS`. */
  async follow(account: ClaimedAccount): Promise<void> {
    const { blocks, blockLedger, autoOverage, gateway, cursors, store, clock } = this.#deps;
    const { _id: accountId, customerId, cause } = account;
    const paid = await blocks.paidOf(accountId);
    const { overage, blockBalance } = (await blockLedger.find(accountId)) ?? {};
    const buys = overage?.enabled === true;
    if (paid.length === 0 && !buys) return;
    const oldest = paid.map(({ createdAt }) => createdAt.getTime()).sort((a, b) => a - b)[0];
    const checkedAfter = clock.now().getTime() - REVERSIBLE_MS;
    // A dispute of any payment stops automatic purchases, also one of a subscription.
    const from = new Date(buys || oldest === undefined ? checkedAfter : oldest);
    const list = `charges:${customerId}`;
    const { round } = await cursors.find(list);
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
      if (fate !== undefined) await this.#apply(block, blockBalance?.blocks[block._id], fate);
    }
    if (buys && charges.some(({ dispute }) => dispute === 'open')) {
      await autoOverage.disable(accountId, 'dispute');
    }
    if (round !== undefined || known !== undefined) await cursors.keepRound(list, known);
    if (!complete) await store.carryOn(account);
  }

  /** The units change before the block's state: until the state is noted, the next pass checks the units again. */
  async #apply(
    { _id, accountId, state, units }: Block,
    before: LedgerBlock | undefined,
    fate: ChargeFate,
  ): Promise<void> {
    const { blocks, blockLedger } = this.#deps;
    const standing = standingBy(fate, units);
    if (before !== undefined && !standsAlike(before, withStanding(before, standing))) {
      await blockLedger.withdraw(accountId, _id, standing, causesOf(fate));
    }
    const now = stateOf(standing, units);
    if (state !== now) await blocks.move(_id, state, now);
  }
}
