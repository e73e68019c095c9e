import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { emailOf } from '../../tenants/accounts/addresses.ts';
import { type AuditAction, byAccount, type DoneBy } from '../../tenants/audit/audit-log.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import type { Catalogue, SoldPlan } from '../stripe/catalogue.ts';
import type { Period, SubscriptionSnapshot } from '../stripe/provider-snapshot.ts';
import { asPlatenError, noResponse, reported } from '../stripe/stripe-errors.ts';
import { hasFailed, type StripeGateway } from '../stripe/stripe-gateway.ts';
import type { StripeSchedules } from '../stripe/stripe-schedules.ts';
import type { BillingStore } from './billing-store.ts';
import type { SubscriptionState } from './entitlement.ts';
import { downgradeName } from './half-made-schedules.ts';
import type { HostedPages } from './hosted-pages.ts';
import type { KeyedOperations } from './keyed-operations.ts';
import type { SubscriptionSync } from './subscription-sync.ts';

interface SubscriptionsDeps extends Pick<Tenants, 'accounts' | 'audit'> {
  readonly store: BillingStore;
  readonly gateway: StripeGateway;
  readonly schedules: StripeSchedules;
  readonly sync: Pick<SubscriptionSync, 'checkAt' | 'exclusively'>;
  readonly catalogue: Catalogue;
  readonly operations: KeyedOperations;
  readonly pages: HostedPages;
  readonly plans: PlanSource;
  readonly clock: Clock;
  /** The address that the provider's pages lead back to. */
  readonly returnUrl: () => string;
}

export interface UpgradePreview {
  readonly eligible: boolean;
  readonly targetPlan?: string;
  readonly amountDueCents?: number;
  readonly currency?: string;
  readonly period?: Period;
}

/** A running subscription, with what a change of it needs. */
type Running = SubscriptionState & {
  readonly subscriptionId: string;
  readonly itemId: string;
  readonly currentPeriod: Period;
};

/** The same, and the subscription as the provider describes it. */
type WithSnapshot = Running & { readonly snapshot: SubscriptionSnapshot };

const RUNS: readonly string[] = ['active', 'trialing'];
/** In these statuses the customer pays in the provider's portal, and not by a second subscription. */
const OWES: readonly string[] = ['past_due', 'unpaid', 'paused'];

/**
 * The operations of accounts on their subscriptions. Each has the account to itself (subscription-sync.ts): it queries the
 * provider once, decides by that state, and ends with a sync, so that the account is as the response says; each call
 * that changes something has its idempotency key stored before (keyed-operations.ts). Errors of the provider become
 * PlatenErrors: RATE_LIMITED, PAYMENT_FAILED, UNAVAILABLE.
 */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps;

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
  }

  /** The customer of an account; made at its first use. */
  async customerOf(accountId: string): Promise<string> {
    const { store, gateway, accounts } = this.#deps;
    for (;;) {
      const { customerId, generation } = await store.open(accountId);
      if (customerId !== undefined) return customerId;
      const email = await emailOf(accounts, accountId);
      const key = `customer:${accountId}:${generation}`;
      try {
        await store.setCustomer(accountId, generation, await gateway.createCustomer(accountId, email, key));
      } catch (error) {
        if (hasFailed(error)) await store.nextGeneration(accountId, generation);
        throw asPlatenError(error);
      }
    }
  }

  /** @throws PlatenError NOT_SUBSCRIBED when the account was never a customer. */
  async portal(accountId: string): Promise<string> {
    const { store, gateway, returnUrl } = this.#deps;
    const customerId = (await store.find(accountId))?.customerId;
    if (customerId === undefined) {
      throw new PlatenError('NOT_SUBSCRIBED', 'The account has bought nothing yet.');
    }
    return reported(() => gateway.portal(customerId, returnUrl()));
  }

  /** @throws PlatenError NOT_SUBSCRIBED */
  async cancel(accountId: string, by = byAccount(undefined)): Promise<void> {
    await this.#withRunning(accountId, async (running) => {
      if (running.cancelAtPeriodEnd) return;
      const { operations, gateway } = this.#deps;
      const { subscriptionId } = running;
      await this.#withoutSchedule(accountId, running);
      await reported(() =>
        operations.run(accountId, `cancel:${subscriptionId}`, ({ key }) =>
          gateway.cancelAtPeriodEnd(subscriptionId, key),
        ),
      );
      await this.#record(accountId, 'billing.subscription_cancelled', running.plan, by);
    });
  }

  /** @throws PlatenError NOT_SUBSCRIBED, also when the subscription is not cancelled. */
  async resume(accountId: string, by = byAccount(undefined)): Promise<void> {
    await this.#withRunning(accountId, async (running) => {
      if (!running.cancelAtPeriodEnd) {
        throw new PlatenError('NOT_SUBSCRIBED', 'The subscription is not about to end.');
      }
      await this.#resume(accountId, running);
      await this.#record(accountId, 'billing.subscription_resumed', running.plan, by);
    });
  }

  /** The cost of changing to a higher plan now. The change itself costs the same for half an hour. */
  async preview(accountId: string, plan: string): Promise<UpgradePreview> {
    const { store, gateway, catalogue, clock } = this.#deps;
    const account = await store.find(accountId);
    const state = account?.customerId === undefined ? undefined : await this.#check(accountId);
    if (state === undefined || !isRunning(state) || !this.#isHigher(plan, state.plan))
      return { eligible: false };
    const customerId = account?.customerId ?? '';
    const { id: priceId } = await reported(() => catalogue.plan(plan));
    const { subscriptionId, itemId, currentPeriod: period } = state;
    const date = Math.floor(clock.now().getTime() / 1000);
    const change = { customerId, subscriptionId, itemId, priceId };
    const cost = await reported(() => gateway.previewChange(change, date));
    await store.keepPreview(accountId, { subscriptionId, priceId, date });
    return { eligible: true, targetPlan: plan, ...cost, period };
  }

  /**
   * Brings the account to a plan: by a hosted page where there is no subscription; at once for a higher plan, with what
   * is due for the rest of the period; at the period's end for a lower one. In each case a cancellation is taken back.
   *
   * @returns a page for the customer to visit; empty when nothing is left to do.
   */
  async checkout(accountId: string, plan: SoldPlan, by = byAccount(undefined)): Promise<string> {
    const { store, catalogue, sync } = this.#deps;
    const { id: priceId } = await reported(() => catalogue.plan(plan));
    const known = (await store.find(accountId))?.state;
    // Without a known subscription the provider is queried for one, and for whether the customer still exists.
    const before = known !== undefined && isAlive(known) ? known : await this.#check(accountId);
    if (before === undefined || !isAlive(before)) return this.#subscribe(accountId, plan, priceId);
    return sync.exclusively(accountId, async (state, subscriptions) => {
      if (OWES.includes(state.status)) return this.portal(accountId);
      const running = snapshotOf(state, subscriptions);
      if (running !== undefined) {
        const url = await reported(() => this.#change(accountId, running, plan, priceId));
        // Other changes are recorded once they are in force.
        if (plan !== running.plan && !this.#isHigher(plan, running.plan))
          await this.#record(accountId, 'billing.plan_change_scheduled', plan, by);
        if (plan === running.plan && running.scheduledPlan !== null)
          await this.#record(accountId, 'billing.plan_change_withdrawn', plan, by);
        return url;
      }
      if (RUNS.includes(state.status)) throw noResponse();
      return this.#subscribe(accountId, plan, priceId);
    });
  }

  async #subscribe(accountId: string, plan: string, priceId: string): Promise<string> {
    const { pages, gateway, returnUrl } = this.#deps;
    const customerId = await this.customerOf(accountId);
    return reported(() =>
      pages.open(accountId, 'checkout', { plan, priceId }, (page) =>
        gateway.subscribePage(
          { customerId, accountId, priceId: page.priceId, returnUrl: returnUrl() },
          page.key,
        ),
      ),
    );
  }

  async #change(accountId: string, state: WithSnapshot, plan: SoldPlan, priceId: string): Promise<string> {
    const { operations, gateway, schedules, store, clock } = this.#deps;
    const { subscriptionId, itemId, scheduleId } = state;
    if (plan === state.plan) {
      await this.#withoutSchedule(accountId, state);
      if (state.cancelAtPeriodEnd) await this.#resume(accountId, state);
      return '';
    }
    if (!this.#isHigher(plan, state.plan)) {
      if (state.cancelAtPeriodEnd) {
        await this.#withoutSchedule(accountId, state);
        await this.#resume(accountId, state);
      }
      const change = {
        subscriptionId,
        scheduleId: state.cancelAtPeriodEnd ? null : scheduleId,
        currentPriceId: state.priceId,
        priceId,
        plan,
      };
      await operations.run(accountId, downgradeName(subscriptionId, priceId), ({ key }) =>
        schedules.change(change, key),
      );
      return '';
    }
    await this.#withoutSchedule(accountId, state);
    // First: a customer that has paid for the higher plan must not lose it at the period's end because a response was
    // lost.
    if (state.cancelAtPeriodEnd) await this.#resume(accountId, state);
    const { waiting } = state.snapshot;
    if (waiting?.priceId === priceId) return waiting.url ?? '';
    if (waiting !== undefined) {
      await operations.run(accountId, `void:${waiting.invoiceId}`, ({ key }) =>
        gateway.voidInvoice(waiting.invoiceId, key),
      );
    }
    const preview = (await store.find(accountId))?.preview;
    const now = Math.floor(clock.now().getTime() / 1000);
    const fits = preview?.subscriptionId === subscriptionId && preview.priceId === priceId;
    const date = fits && preview.date > now - PREVIEW_S ? preview.date : now;
    const started = Math.floor(state.currentPeriod.start.getTime() / 1000);
    const name = `upgrade:${subscriptionId}:${itemId}:${priceId}`;
    const { confirmAt } = await operations.run(
      accountId,
      name,
      ({ key, value }) => {
        return gateway.changePlan({ subscriptionId, itemId, priceId, prorationDate: value }, key);
      },
      Math.max(date, started),
    );
    return confirmAt ?? '';
  }

  #record(accountId: string, action: AuditAction, plan: string | null, by: DoneBy): Promise<void> {
    return this.#deps.audit.record({ accountId, action, ...by, details: plan === null ? {} : { plan } });
  }

  async #resume(accountId: string, { subscriptionId, snapshot: subscription }: WithSnapshot): Promise<void> {
    const { operations, gateway } = this.#deps;
    await reported(() =>
      operations.run(accountId, `resume:${subscriptionId}`, ({ key }) => gateway.resume(subscription, key)),
    );
  }

  /** A scheduled change has to be removed before anything else can be changed. */
  async #withoutSchedule(accountId: string, { scheduleId }: Running): Promise<void> {
    if (scheduleId === null) return;
    const { operations, schedules } = this.#deps;
    await reported(() =>
      operations.run(accountId, `release:${scheduleId}`, ({ key }) => schedules.release(scheduleId, key)),
    );
  }

  /** @throws PlatenError NOT_SUBSCRIBED */
  async #withRunning(accountId: string, act: (running: WithSnapshot) => Promise<void>): Promise<void> {
    const { store, sync } = this.#deps;
    if ((await store.find(accountId))?.customerId === undefined) throw new PlatenError('NOT_SUBSCRIBED');
    await sync.exclusively(accountId, async (state, subscriptions) => {
      const running = snapshotOf(state, subscriptions);
      if (running === undefined) throw new PlatenError('NOT_SUBSCRIBED');
      await act(running);
    });
  }

  /** @returns undefined for an account that was never a customer. @throws PlatenError UNAVAILABLE */
  async #check(accountId: string): Promise<SubscriptionState | undefined> {
    const { store, sync } = this.#deps;
    if ((await store.find(accountId))?.customerId === undefined) return undefined;
    const state = await sync.checkAt(accountId);
    if (state === undefined) throw noResponse();
    return state;
  }

  #isHigher(plan: string, than: string | null): boolean {
    const { plans } = this.#deps;
    if (than === null || !plans.has(plan)) return false;
    return plans.plan(plan).priceCentsPerMonth > plans.plan(than).priceCentsPerMonth;
  }
}

const PREVIEW_S = 1800;

function isRunning(state: SubscriptionState): state is Running {
  const { status, subscriptionId, itemId, currentPeriod } = state;
  return RUNS.includes(status) && subscriptionId !== null && itemId !== null && currentPeriod !== null;
}

/** It runs, or a payment for it is owed. */
function isAlive({ status }: SubscriptionState): boolean {
  return RUNS.includes(status) || OWES.includes(status);
}

function snapshotOf(
  state: SubscriptionState,
  subscriptions: readonly SubscriptionSnapshot[],
): WithSnapshot | undefined {
  const reported = subscriptions.find(({ id }) => id === state.subscriptionId);
  return reported !== undefined && isRunning(state) ? { ...state, snapshot: reported } : undefined;
}
