import { FREE_PLAN, type NamedPlan } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { Account, AccountStore } from './account-store.ts';

/** What decides the plan of an account: its name, and whether the account is suspended. */
export type PlanFacts = Pick<Account, 'plan' | 'suspendedAt'>;

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
    const account = await this.#accounts.find(accountId);
    if (account !== undefined) await this.#plans.resolve(account.plan);
    return this.named(account);
  }

  /** `planOf` for many accounts, with one query for each 1,000 accounts. */
  async plansOf(accountIds: readonly string[]): Promise<Map<string, NamedPlan>> {
    const known = await this.factsOf(accountIds);
    for (const name of new Set([...known.values()].map(({ plan }) => plan))) await this.#plans.resolve(name);
    return new Map(accountIds.map((accountId) => [accountId, this.named(known.get(accountId))]));
  }

  /** For a reader that keeps them for a while, and asks by `named` for what the plan allows at the moment. */
  factsOf(accountIds: readonly string[]): Promise<Map<string, PlanFacts>> {
    return this.#accounts.planNames(accountIds);
  }

  /** A suspended account gets no plan slot: its waiting jobs keep their positions, and call for no worker. */
  named(account: PlanFacts | undefined): NamedPlan {
    const name = account?.plan ?? FREE_PLAN;
    const plan = this.#plans.plan(name);
    return { name, plan: account?.suspendedAt === undefined ? plan : { ...plan, concurrentRenders: 0 } };
  }
}
