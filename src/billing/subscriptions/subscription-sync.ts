import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../../infra/core.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { AccountService } from '../../tenants/accounts/account-service.ts';
import { FREE_PLAN } from '../../tenants/plans/plan.ts';
import type { InvoiceMirror } from '../invoices/invoice-mirror.ts';
import type { CustomerSnapshot, SubscriptionSnapshot } from '../stripe/provider-snapshot.ts';
import { noResponse, reported } from '../stripe/stripe-errors.ts';
import { isRejection, type StripeGateway } from '../stripe/stripe-gateway.ts';
import type { BillingStore, ClaimedAccount } from './billing-store.ts';
import { type SubscriptionState, syncSubscription } from './entitlement.ts';

/** The outcome of a check of an account. */
export const SYNC_OUTCOMES = ['done', 'overtaken', 'failed'] as const;
type SyncOutcome = (typeof SYNC_OUTCOMES)[number];

/**
 * Errors that an operator has to check: an unknown state, a second subscription, one that cannot be refunded, a
 * block that is marked as paid without a payment, and a block whose invoice was rejected.
 */
export const ERROR_KINDS = ['unclear', 'duplicate', 'refund', 'unproven', 'refused'] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface SyncDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly store: BillingStore;
  readonly mirror: InvoiceMirror;
  readonly gateway: Pick<StripeGateway, 'customer' | 'subscriptions' | 'undoDuplicate' | 'voidInvoice'>;
  readonly accountService: Pick<AccountService, 'followSubscription' | 'recordFollowed'>;
  readonly isPlan: (name: string) => boolean;
  /** Further steps that apply the customer's state, before it is noted; a repetition changes nothing more. */
  readonly furtherSteps?: readonly SyncStep[];
  /** Runs when a second subscription was refunded, before it ends; a repetition changes nothing more. */
  readonly onPaidBack?: (...step: [...Parameters<SyncStep>, duplicate: string]) => Promise<void>;
  readonly observeSync?: (outcome: SyncOutcome) => void;
  /** Called for everything that an operator has to check, each time that it is seen. */
  readonly observeError?: (kind: ErrorKind) => void;
}

export type SyncStep = (
  account: ClaimedAccount,
  customer: CustomerSnapshot,
  state: SubscriptionState,
) => Promise<void>;

/** Accounts that are claimed with one query for due ones. */
const AT_ONCE = 20;
/** Checks that may be overtaken, since their lease has ended, before the call gives up. */
const TRIES = 3;
/** How long a call waits for an account that is claimed, in milliseconds: a few operations and checks. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;
/** In milliseconds: when a call that the provider has rejected is tried again. */
const REJECTED_RETRY_MS = 3_600_000;

/**
 * Brings accounts to the provider's state: claim, query, sync, write, note (billing-store.ts says how claims exclude
 * one another). One process at a time has an account, for a check or for an operation with the check that follows it.
 * After a crash anywhere the lease ends, and the next process repeats all of it.
 */
export class SubscriptionSync {
  readonly #deps: SyncDeps;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** @returns how many accounts were checked. */
  async sweep(): Promise<number> {
    const { store } = this.#deps;
    const due = new DueWork({
      queue: store,
      perQuery: AT_ONCE,
      atOnce: AT_ONCE,
      claim: (seen) => store.claimCustomer(seen),
      attempt: (account) => this.#check(account),
    });
    return (await due.pass()).length;
  }

  /** Checks an account now, after any process that has it. @returns its state; undefined when it could not. */
  async checkAt(accountId: string): Promise<SubscriptionState | undefined> {
    const { store } = this.#deps;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const claimed = await this.#claim(accountId);
      const outcome = claimed === undefined ? 'failed' : await this.#check(claimed);
      if (outcome === 'done') return (await store.find(accountId))?.state;
      if (outcome === 'failed') return undefined;
    }
    return undefined;
  }

  /**
   * Has an account to itself while `act` changes its subscription, and checks it after that. Events that come meanwhile
   * only raise `wanted`: the final check covers them, and no other process begins one.
   *
   * @param act gets the account's state, from one query, and the provider's snapshot.
   * @returns what `act` does.
   * @throws what `act` does; PlatenError UNAVAILABLE, also when `act` succeeded and the check failed.
   */
  async exclusively<T>(
    accountId: string,
    act: (state: SubscriptionState, subscriptions: readonly SubscriptionSnapshot[]) => Promise<T>,
  ): Promise<T> {
    const { store } = this.#deps;
    const claimed = await this.#claim(accountId);
    if (claimed === undefined) throw noResponse();
    const { value, outcome } = await store.holding(claimed, async () => {
      const done = await this.#do(claimed, act);
      const kept = await store.renew(claimed);
      const now = kept && { ...kept, customerId: claimed.customerId };
      return { value: done, outcome: now === undefined ? 'overtaken' : await this.#checkAsHolder(now) };
    });
    if (outcome === 'failed') throw noResponse();
    if (outcome === 'overtaken' && (await this.checkAt(accountId)) === undefined) throw noResponse();
    return value;
  }

  async #do<T>(claimed: ClaimedAccount, act: Parameters<typeof this.exclusively<T>>[1]): Promise<T> {
    const { store, gateway, clock, isPlan } = this.#deps;
    const { customerId } = claimed;
    try {
      const subscriptions = await reported(() => gateway.subscriptions(customerId));
      const customer = { customerId, deleted: false, subscriptions, invoices: [] };
      return await act(syncSubscription(customer, { now: clock.now(), isPlan }), subscriptions);
    } catch (error) {
      await store.leave(claimed);
      throw error;
    }
  }

  /** @returns undefined for an account that is no customer, and when others hold the account for too long. */
  async #claim(accountId: string): Promise<ClaimedAccount | undefined> {
    const { store } = this.#deps;
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(PAUSE_MS)) {
      const seen = await store.find(accountId);
      if (seen?.customerId === undefined) return undefined;
      const claimed = await store.claimCustomer(seen);
      if (claimed !== undefined) return claimed;
    }
    return undefined;
  }

  #check(account: ClaimedAccount): Promise<SyncOutcome> {
    return this.#deps.store.holding(account, () => this.#checkAsHolder(account));
  }

  async #checkAsHolder(account: ClaimedAccount): Promise<SyncOutcome> {
    const { store, logger, observeSync } = this.#deps;
    let outcome: SyncOutcome = 'failed';
    try {
      outcome = await this.#bringUpToDate(account);
    } catch (error) {
      logger.warn({ err: error, accountId: account._id }, 'subscription could not be checked');
      await store.retryLater(account);
    }
    observeSync?.(outcome);
    return outcome;
  }

  async #bringUpToDate(account: ClaimedAccount): Promise<SyncOutcome> {
    const { store, mirror, gateway, clock, isPlan } = this.#deps;
    const customer = await gateway.customer(account.customerId);
    const state = syncSubscription(customer, { now: clock.now(), isPlan });
    if (!(await this.#follow(account, state))) return 'overtaken';
    await mirror.update(account._id, customer.invoices);
    for (const step of this.#deps.furtherSteps ?? []) await step(account, customer, state);
    const repaired = await this.#repair(account, customer, state);
    if (customer.deleted) await store.unlink(account);
    const again = new Date(clock.now().getTime() + REJECTED_RETRY_MS);
    if (await store.note(account, repaired ? state : checkingAgain(state, again))) return 'done';
    // The steps may have overwritten what a newer check has seen: one more check corrects that.
    await store.wantAccount(account._id, account.cause ?? 'overtaken');
    return 'overtaken';
  }

  /** Writes only what the subscription changes: a plan set by hand stays until the subscription changes it. */
  async #follow(account: ClaimedAccount, state: SubscriptionState): Promise<boolean> {
    const { accountService, store } = this.#deps;
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
   * Repairs at the provider what should not be there. Each check has idempotency keys of its own: it has read the
   * present state, and a failure that Stripe keeps as a key's response would block it for a day.
   *
   * @returns false when a call was rejected, and is to be tried again later.
   */
  async #repair(...step: Parameters<SyncStep>): Promise<boolean> {
    const [{ _id, fence }, , state] = step;
    const { gateway, logger, observeError } = this.#deps;
    let repaired = true;
    for (const problem of state.problems) {
      observeError?.('unclear');
      logger.error({ accountId: _id, problem }, 'subscription is not understood; the plan stays as it was');
    }
    for (const duplicate of state.duplicates) {
      observeError?.('duplicate');
      logger.error({ accountId: _id, duplicate }, 'second subscription is to be ended and refunded');
      repaired = (await this.#undo(duplicate, step)) && repaired;
    }
    for (const invoiceId of state.invoicesToVoid) {
      await gateway.voidInvoice(invoiceId, `void:${invoiceId}:${fence}`);
    }
    return repaired;
  }

  /** @returns false when the money cannot be refunded. */
  async #undo(duplicate: string, step: Parameters<SyncStep>): Promise<boolean> {
    const { gateway, logger, observeError, onPaidBack } = this.#deps;
    const [{ _id: accountId, fence }] = step;
    try {
      await gateway.undoDuplicate(duplicate, `duplicate:${duplicate}:${fence}`, async () =>
        onPaidBack?.(...step, duplicate),
      );
      return true;
    } catch (error) {
      if (!isRejection(error)) throw error;
      observeError?.('refund');
      logger.error({ err: error, accountId, duplicate }, 'second subscription could not be refunded');
      return false;
    }
  }
}

function checkingAgain(state: SubscriptionState, at: Date): SubscriptionState {
  const { checkAgainAt } = state;
  return checkAgainAt !== null && checkAgainAt < at ? state : { ...state, checkAgainAt: at };
}

/** For the audit log: the event about the customer, or else that time alone has changed something. */
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
