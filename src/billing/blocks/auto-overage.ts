import { PlatenError } from '../../infra/errors/registry.ts';
import type { DoneBy } from '../../tenants/audit/audit-log.ts';
import type { DisabledBecause } from '../../tenants/mail/mail.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import type { UnrecordedChanges } from '../../work/jobs/blocks/unrecorded-changes.ts';
import type { Overage } from '../../work/jobs/ledger/overage.ts';
import type { Jobs } from '../../work/jobs/open-jobs.ts';
import { BLOCK_SIZES, type BlockSize, type Catalogue } from '../stripe/catalogue.ts';
import { reported } from '../stripe/stripe-errors.ts';
import type { BillingStore } from '../subscriptions/billing-store.ts';
import type { SubscriptionState } from '../subscriptions/entitlement.ts';

interface AutoOverageRequest {
  readonly enabled: boolean;
  /** Unchanged when undefined; at first the smallest size. */
  readonly blockSize?: BlockSize | undefined;
  /** US cents per billing period. Unchanged when undefined; at first the price of one block. */
  readonly capCents?: number | undefined;
}

export interface AutoOverageDeps extends Pick<Tenants, 'audit' | 'outbox'>, Pick<Jobs, 'blockLedger'> {
  readonly store: BillingStore;
  readonly catalogue: Catalogue;
  readonly changes: Pick<UnrecordedChanges, 'record'>;
  readonly emailOf: (accountId: string) => Promise<string | null>;
  /** Syncs the customer now. */
  readonly checkAt: (accountId: string) => Promise<SubscriptionState | undefined>;
}

/** Purchases that an account lets the service make when its quota is used up. */
export class AutoOverage {
  readonly #deps: AutoOverageDeps;

  constructor(deps: AutoOverageDeps) {
    this.#deps = deps;
  }

  async of(accountId: string): Promise<Overage | undefined> {
    return (await this.#deps.blockLedger.find(accountId))?.overage;
  }

  /** @throws PlatenError NOT_SUBSCRIBED without a paid subscription; VALIDATION for a cap below one block's price. */
  async set(accountId: string, request: AutoOverageRequest, by: DoneBy): Promise<void> {
    const { blockLedger, catalogue, audit } = this.#deps;
    const before = await this.of(accountId);
    if (!request.enabled && before === undefined) return;
    const state = await this.#stateOf(accountId, request.enabled);
    const cycle = state === undefined ? undefined : cycleOf(state);
    if (request.enabled && (state?.mayBuyByItself !== true || cycle === undefined)) {
      throw new PlatenError(
        'NOT_SUBSCRIBED',
        'Blocks can be bought only in addition to a paid subscription.',
      );
    }
    const units = request.blockSize ?? BLOCK_SIZES.find((size) => size === before?.units) ?? BLOCK_SIZES[0];
    const priceCents = request.enabled
      ? (await reported(() => catalogue.block(units))).amountCents
      : (before?.priceCents ?? 0);
    const capCents = request.capCents ?? before?.capCents ?? priceCents;
    if (request.enabled && capCents < priceCents) {
      throw new PlatenError('VALIDATION', undefined, {
        details: [`spendCapCents: must be at least the price of one block, ${priceCents}`],
      });
    }
    await blockLedger.set(accountId, {
      enabled: request.enabled,
      units,
      priceCents,
      capCents,
      cycle: cycle ?? before?.cycle ?? '',
    });
    await audit.record({
      accountId,
      action: 'billing.auto_overage_changed',
      ...by,
      details: { enabled: String(request.enabled), units: String(units), capCents: String(capCents) },
    });
  }

  /** Checked before a rejection: the customer may have paid on a hosted page just now, before any event has come. */
  async #stateOf(accountId: string, mustBePaid: boolean): Promise<SubscriptionState | undefined> {
    const { store, checkAt } = this.#deps;
    const { state, checkout, wanted, noted } = (await store.find(accountId)) ?? { wanted: 0, noted: 0 };
    const mayBePaid = checkout !== undefined || wanted > noted;
    if (!mustBePaid || state?.mayBuyByItself === true || !mayBePaid) return state;
    return (await checkAt(accountId)) ?? state;
  }

  /** The owner gets a mail that says why. @returns false when it was off already. */
  async disable(accountId: string, because: DisabledBecause): Promise<boolean> {
    const { blockLedger, changes } = this.#deps;
    const done = await blockLedger.disable(accountId, because);
    await changes.record(accountId);
    await this.#report(accountId);
    return done;
  }

  /**
   * The update that switches auto overage off also stores that its owner is to be notified. So if the process dies
   * before the mail is in the outbox, the next call of this method adds it.
   */
  async #report(accountId: string): Promise<void> {
    const { blockLedger, outbox, emailOf } = this.#deps;
    const unreported = (await this.of(accountId))?.untold;
    if (unreported === undefined) return;
    const { because, at } = unreported;
    const to = await emailOf(accountId);
    if (to !== null) {
      const id = `${accountId}:auto-overage-off:${at}`;
      await outbox.enqueue({ id, accountId, to, kind: 'auto-overage-disabled', values: { because } });
    }
    await blockLedger.reported(accountId, at);
  }

  /** Follows the subscription: a new period starts with the whole cap; an unpaid one buys nothing. */
  async follow(
    accountId: string,
    state: Pick<SubscriptionState, 'mayBuyByItself' | 'currentPeriod'>,
  ): Promise<void> {
    const { blockLedger } = this.#deps;
    await blockLedger.allow(accountId, state.mayBuyByItself);
    const cycle = cycleOf(state);
    if (cycle !== undefined) await blockLedger.begin(accountId, cycle);
    await this.#report(accountId);
  }
}

/** Names a billing period; the names sort in the order of the periods. */
function cycleOf({ currentPeriod }: Pick<SubscriptionState, 'currentPeriod'>): string | undefined {
  return currentPeriod?.start.toISOString();
}
