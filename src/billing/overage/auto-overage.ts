import type { AuditLog, DoneBy } from '../../audit/audit-log.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { Overage } from '../../jobs/ledger/overage.ts';
import type { Purchases } from '../../jobs/ledger/purchases.ts';
import type { UnrecordedChanges } from '../../jobs/ledger/unrecorded-changes.ts';
import type { DisabledBecause } from '../../mail/mail.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { BillingStore } from '../billing-store.ts';
import { BLOCK_SIZES, type BlockSize, type Catalogue } from '../catalogue.ts';
import { told } from '../refusals.ts';
import type { SubscriptionState } from '../subscription.ts';

export interface AutoOverageOrder {
  readonly enabled: boolean;
  /** As before, or the smallest, when undefined. */
  readonly blockSize?: BlockSize | undefined;
  /** US cents in one billing period; as before, or the price of one block, when undefined. */
  readonly capCents?: number | undefined;
}

export interface AutoOverageParts {
  readonly store: BillingStore;
  readonly purchases: Purchases;
  readonly catalogue: Catalogue;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly changes: Pick<UnrecordedChanges, 'record'>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
  readonly emailOf: (accountId: string) => Promise<string | null>;
  /** Looks at the customer now. */
  readonly lookAt: (accountId: string) => Promise<SubscriptionState | undefined>;
}

/** What an account lets the service buy when its quota is used up. */
export class AutoOverage {
  readonly #parts: AutoOverageParts;

  constructor(parts: AutoOverageParts) {
    this.#parts = parts;
  }

  async of(accountId: string): Promise<Overage | undefined> {
    return (await this.#parts.purchases.find(accountId))?.overage;
  }

  /**
   * @throws PlatenError NOT_SUBSCRIBED when it is to be on without a subscription that is paid; VALIDATION for a cap that
   * not even one block fits under.
   */
  async set(accountId: string, order: AutoOverageOrder, by: DoneBy): Promise<void> {
    const { purchases, catalogue, audit } = this.#parts;
    const before = await this.of(accountId);
    if (!order.enabled && before === undefined) return;
    const state = await this.#stateOf(accountId, order.enabled);
    const cycle = state === undefined ? undefined : cycleOf(state);
    if (order.enabled && (state?.mayBuyByItself !== true || cycle === undefined)) {
      throw new PlatenError('NOT_SUBSCRIBED', 'Blocks are bought only beside a subscription that is paid.');
    }
    const units = order.blockSize ?? BLOCK_SIZES.find((size) => size === before?.units) ?? BLOCK_SIZES[0];
    const priceCents = order.enabled
      ? (await told(() => catalogue.block(units))).amountCents
      : (before?.priceCents ?? 0);
    const capCents = order.capCents ?? before?.capCents ?? priceCents;
    if (order.enabled && capCents < priceCents) {
      throw new PlatenError('VALIDATION', undefined, {
        details: [`spendCapCents: must be at least the price of one block, ${priceCents}`],
      });
    }
    await purchases.set(accountId, {
      enabled: order.enabled,
      units,
      priceCents,
      capCents,
      cycle: cycle ?? before?.cycle ?? '',
    });
    await audit.record({
      accountId,
      action: 'billing.auto_overage_changed',
      ...by,
      details: { enabled: String(order.enabled), units: String(units), capCents: String(capCents) },
    });
  }

  /** Who has been on a page of ours may have paid a moment ago, and nothing was heard of it: that is asked before a no. */
  async #stateOf(accountId: string, mustBePaid: boolean): Promise<SubscriptionState | undefined> {
    const { store, lookAt } = this.#parts;
    const { state, checkout, wanted, noted } = (await store.find(accountId)) ?? { wanted: 0, noted: 0 };
    const mayBePaid = checkout !== undefined || wanted > noted;
    if (!mustBePaid || state?.mayBuyByItself === true || !mayBePaid) return state;
    return (await lookAt(accountId)) ?? state;
  }

  /** The owner gets a mail that says why. @returns false when it was off already. */
  async disable(accountId: string, because: DisabledBecause): Promise<boolean> {
    const { purchases, changes } = this.#parts;
    const done = await purchases.disable(accountId, because);
    await changes.record(accountId);
    await this.#tell(accountId);
    return done;
  }

  /**
   * That there is something to tell is written by the same update that turns it off; so whoever dies before the mail is in
   * the outbox has it told by the next who comes by.
   */
  async #tell(accountId: string): Promise<void> {
    const { purchases, outbox, emailOf } = this.#parts;
    const untold = (await this.of(accountId))?.untold;
    if (untold === undefined) return;
    const { because, at } = untold;
    const to = await emailOf(accountId);
    if (to !== null) {
      const id = `${accountId}:auto-overage-off:${at}`;
      await outbox.enqueue({ id, accountId, to, kind: 'auto-overage-disabled', values: { because } });
    }
    await purchases.told(accountId, at);
  }

  /** Follows the subscription: a new period's cap is untouched, and what is not paid buys nothing. */
  async follow(
    accountId: string,
    state: Pick<SubscriptionState, 'mayBuyByItself' | 'currentPeriod'>,
  ): Promise<void> {
    const { purchases } = this.#parts;
    await purchases.allow(accountId, state.mayBuyByItself);
    const cycle = cycleOf(state);
    if (cycle !== undefined) await purchases.begin(accountId, cycle);
    await this.#tell(accountId);
  }
}

/** Names a billing period; a later one comes later in the order of texts. */
function cycleOf({ currentPeriod }: Pick<SubscriptionState, 'currentPeriod'>): string | undefined {
  return currentPeriod?.start.toISOString();
}
