import { FREE_PLAN, type NamedPlan } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { AccountStore } from './account-store.ts';

/** Which plan each account has. An account's name for it may be a second old, what the plan allows is as it is now. */
export class AccountPlans {
  readonly #accounts: AccountStore;
  readonly #plans: PlanSource;

  constructor(accounts: AccountStore, plans: PlanSource) {
    this.#accounts = accounts;
    this.#plans = plans;
  }

  /** An account that is gone may still have jobs on their way; they end under the plan `free`. */
  async planOf(accountId: string): Promise<NamedPlan> {
    return this.#named((await this.#accounts.find(accountId))?.plan ?? FREE_PLAN);
  }

  /** `planOf` for many accounts, with one query for a thousand of them. */
  async plansOf(accountIds: readonly string[]): Promise<Map<string, NamedPlan>> {
    const names = await this.#accounts.planNames(accountIds);
    return new Map(
      accountIds.map((accountId) => [accountId, this.#named(names.get(accountId) ?? FREE_PLAN)]),
    );
  }

  #named(name: string): NamedPlan {
    return { name, plan: this.#plans.plan(name) };
  }
}
