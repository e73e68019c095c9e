import { FREE_PLAN, type NamedPlan } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { AccountStore } from './account-store.ts';

/** The plan of each account. The plan's name may be one second old; what the plan allows is always current. */
export class AccountPlans {
  readonly #accounts: AccountStore;
  readonly #plans: PlanSource;

  constructor(accounts: AccountStore, plans: PlanSource) {
    this.#accounts = accounts;
    this.#plans = plans;
  }

  /** Jobs of a deleted account may still be running; they end under the plan `free`. */
  async planOf(accountId: string): Promise<NamedPlan> {
    return this.#named((await this.#accounts.find(accountId))?.plan ?? FREE_PLAN);
  }

  /** `planOf` for many accounts, with one query for each 1,000 accounts. */
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
