import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountService } from '../accounts/account-service.ts';
import type { Clock } from '../clock.ts';
import { FREE_PLAN } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { BillingStore, ClaimedAccount } from './billing-store.ts';
import type { InvoiceMirror } from './invoice-mirror.ts';
import { holding } from './leases.ts';
import { noAnswer, told } from './refusals.ts';
import type { CustomerSnapshot, SubscriptionSnapshot } from './snapshot.ts';
import { isRefusal, type StripeGateway } from './stripe-gateway.ts';
import { foldSubscription, type SubscriptionState } from './subscription.ts';

/** How a look at an account went. */
export const FOLD_OUTCOMES = ['done', 'overtaken', 'failed'] as const;
export type FoldOutcome = (typeof FOLD_OUTCOMES)[number];

/**
 * What an operator has to look at: a state that is not understood, a second subscription, one that cannot be paid back, a
 * block that is called paid without a payment, and one whose invoice is refused.
 */
export const FAULT_KINDS = ['unclear', 'duplicate', 'refund', 'unproven', 'refused'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface SyncParts {
  readonly store: BillingStore;
  readonly mirror: InvoiceMirror;
  readonly gateway: Pick<StripeGateway, 'customer' | 'subscriptions' | 'undoDuplicate' | 'voidInvoice'>;
  readonly accountService: Pick<AccountService, 'followSubscription' | 'recordFollowed'>;
  readonly isPlan: (name: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What else follows from how the customer is now, before that is noted; done twice it changes nothing more. */
  readonly furtherSteps?: readonly SyncStep[];
  /** Runs when a second subscription was paid back, and before it ends; done twice it changes nothing more. */
  readonly onPaidBack?: (...step: [...Parameters<SyncStep>, duplicate: string]) => Promise<void>;
  readonly observeFold?: (outcome: FoldOutcome) => void;
  /** Told of everything that an operator has to look at, each time that it is seen. */
  readonly observeFault?: (kind: FaultKind) => void;
}

export type SyncStep = (
  account: ClaimedAccount,
  customer: CustomerSnapshot,
  state: SubscriptionState,
) => Promise<void>;

/** Accounts that are claimed with one look at what is due. */
const AT_ONCE = 20;
/** Looks that others overtake, since a lease has ended meanwhile. */
const TRIES = 3;
/** Whoever has an account is waited for, for so long in milliseconds: as long as a few orders and looks may take. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;
/** What the provider has refused is tried again after this long, in milliseconds. */
const REFUSED_AGAIN_MS = 3_600_000;

/**
 * Brings accounts to what the provider says of them: claim, ask, fold, write, note (billing-store.ts says how these
 * exclude one another). One at a time has an account, be it for a look or for an order with the look that follows it. After a
 * crash anywhere the lease runs out, and whoever comes next does all of it again.
 */
export class SubscriptionSync {
  readonly #parts: SyncParts;

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  /** @returns how many accounts were looked at. */
  async sweep(): Promise<number> {
    const { store } = this.#parts;
    const due = await store.due(AT_ONCE);
    const done = await Promise.all(
      due.map(async (account) => {
        const claimed = await store.claim(account);
        if (claimed !== undefined) await this.#look(claimed);
        return claimed !== undefined;
      }),
    );
    return done.filter(Boolean).length;
  }

  /**
   * Looks at one account now, whether it is due or not, after whoever has it at the moment.
   *
   * @returns how it stands; undefined when it could not be done.
   */
  async lookAt(accountId: string): Promise<SubscriptionState | undefined> {
    const { store } = this.#parts;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const claimed = await this.#claim(accountId);
      const outcome = claimed === undefined ? 'failed' : await this.#look(claimed);
      if (outcome === 'done') return (await store.find(accountId))?.state;
      if (outcome === 'failed') return undefined;
    }
    return undefined;
  }

  /**
   * Has an account to itself while something is done about its subscription, and looks at it after that. What is heard of
   * meanwhile only raises what is wanted: it is part of that look, and nobody else begins one.
   *
   * @param act is told how the subscription stands, by one question; and as the provider tells it.
   * @returns what `act` does.
   * @throws what `act` does; PlatenError UNAVAILABLE, also when it was done and could not be looked at.
   */
  async order<T>(
    accountId: string,
    act: (state: SubscriptionState, subscriptions: readonly SubscriptionSnapshot[]) => Promise<T>,
  ): Promise<T> {
    const { store } = this.#parts;
    const claimed = await this.#claim(accountId);
    if (claimed === undefined) throw noAnswer();
    const { value, outcome } = await holding(
      () => store.renew(claimed),
      async () => {
        const done = await this.#do(claimed, act);
        const now = await store.renew(claimed);
        return { value: done, outcome: now === undefined ? 'overtaken' : await this.#lookAsHolder(now) };
      },
    );
    if (outcome === 'failed') throw noAnswer();
    if (outcome === 'overtaken' && (await this.lookAt(accountId)) === undefined) throw noAnswer();
    return value;
  }

  async #do<T>(claimed: ClaimedAccount, act: Parameters<typeof this.order<T>>[1]): Promise<T> {
    const { store, gateway, clock, isPlan } = this.#parts;
    const { customerId } = claimed;
    try {
      const subscriptions = await told(() => gateway.subscriptions(customerId));
      const customer = { customerId, deleted: false, subscriptions, invoices: [] };
      return await act(foldSubscription(customer, { now: clock.now(), isPlan }), subscriptions);
    } catch (error) {
      await store.leave(claimed);
      throw error;
    }
  }

  /** @returns undefined for who is no customer, and when others have the account for too long. */
  async #claim(accountId: string): Promise<ClaimedAccount | undefined> {
    const { store } = this.#parts;
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(PAUSE_MS)) {
      const claimed = await store.claim({ _id: accountId });
      if (claimed !== undefined) return claimed;
      if ((await store.find(accountId))?.customerId === undefined) return undefined;
    }
    return undefined;
  }

  #look(account: ClaimedAccount): Promise<FoldOutcome> {
    return holding(
      () => this.#parts.store.renew(account),
      () => this.#lookAsHolder(account),
    );
  }

  async #lookAsHolder(account: ClaimedAccount): Promise<FoldOutcome> {
    const { store, logger, observeFold } = this.#parts;
    let outcome: FoldOutcome = 'failed';
    try {
      outcome = await this.#bringUpToDate(account);
    } catch (error) {
      logger.warn({ err: error, accountId: account._id }, 'subscription could not be looked at');
      await store.postpone(account);
    }
    observeFold?.(outcome);
    return outcome;
  }

  async #bringUpToDate(account: ClaimedAccount): Promise<FoldOutcome> {
    const { store, mirror, gateway, clock, isPlan } = this.#parts;
    const customer = await gateway.customer(account.customerId);
    const state = foldSubscription(customer, { now: clock.now(), isPlan });
    if (!(await this.#follow(account, state))) return 'overtaken';
    await mirror.update(account._id, customer.invoices);
    for (const step of this.#parts.furtherSteps ?? []) await step(account, customer, state);
    const mended = await this.#mend(account, customer, state);
    if (customer.deleted) await store.unlink(account);
    const again = new Date(clock.now().getTime() + REFUSED_AGAIN_MS);
    if (await store.note(account, mended ? state : lookingAgain(state, again))) return 'done';
    // The steps may have written something older than what the other has seen: one more look puts that right.
    await store.wantAccount(account._id, account.cause ?? 'overtaken');
    return 'overtaken';
  }

  /** Only what the subscription changes is written, so that a plan set by hand stays until it does. */
  async #follow(account: ClaimedAccount, state: SubscriptionState): Promise<boolean> {
    const { accountService, store } = this.#parts;
    const { _id, state: before, fence } = account;
    if (state.inForce === 'keep') {
      await accountService.recordFollowed(_id);
      return true;
    }
    const differs = before === undefined ? state.status !== 'none' : !isSame(before, state);
    if (differs && !(await store.announce(account, state))) return false;
    const to = { plan: state.inForce, quotaWindow: state.quota, fence };
    return accountService.followSubscription(_id, to, { cause: causeOf(account, state), differs });
  }

  /**
   * Puts right at the provider what should not be there. Each look has idempotency keys of its own: it has read what is, and
   * a failure that Stripe keeps as the answer of a key would be in its way for a day.
   *
   * @returns false when something was refused, and is to be tried again later.
   */
  async #mend(...step: Parameters<SyncStep>): Promise<boolean> {
    const [{ _id, fence }, , state] = step;
    const { gateway, logger, observeFault } = this.#parts;
    let mended = true;
    for (const fault of state.faults) {
      observeFault?.('unclear');
      logger.error({ accountId: _id, fault }, 'subscription is not understood; the plan stays as it was');
    }
    for (const duplicate of state.duplicates) {
      observeFault?.('duplicate');
      logger.error({ accountId: _id, duplicate }, 'second subscription is to be ended and refunded');
      mended = (await this.#undo(duplicate, step)) && mended;
    }
    for (const invoiceId of state.invoicesToVoid) {
      await gateway.voidInvoice(invoiceId, `void:${invoiceId}:${fence}`);
    }
    return mended;
  }

  /** @returns false when the money cannot be given back. */
  async #undo(duplicate: string, step: Parameters<SyncStep>): Promise<boolean> {
    const { gateway, logger, observeFault, onPaidBack } = this.#parts;
    const [{ _id: accountId, fence }] = step;
    try {
      await gateway.undoDuplicate(duplicate, `duplicate:${duplicate}:${fence}`, async () =>
        onPaidBack?.(...step, duplicate),
      );
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      observeFault?.('refund');
      logger.error({ err: error, accountId, duplicate }, 'second subscription could not be paid back');
      return false;
    }
  }
}

function lookingAgain(state: SubscriptionState, at: Date): SubscriptionState {
  const { lookAgainAt } = state;
  return lookAgainAt !== null && lookAgainAt < at ? state : { ...state, lookAgainAt: at };
}

/** For the audit log: what was heard of the customer, or else what time alone has changed. */
function causeOf(
  { wanted, noted, cause }: ClaimedAccount,
  { graceEndsAt, inForce }: SubscriptionState,
): string {
  if (wanted > noted && cause !== undefined) return cause;
  return graceEndsAt !== null && inForce === FREE_PLAN ? 'grace ended' : 'looked at';
}

function isSame(a: SubscriptionState, b: SubscriptionState): boolean {
  return (
    a.inForce === b.inForce &&
    a.quota?.start.getTime() === b.quota?.start.getTime() &&
    a.quota?.end.getTime() === b.quota?.end.getTime()
  );
}
