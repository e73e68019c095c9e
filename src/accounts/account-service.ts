import { type AuditAction, type AuditLog, BY_BILLING, type DoneBy } from '../audit/audit-log.ts';
import { PlatenError } from '../errors/registry.ts';
import type { PlanName } from '../plans/plan.ts';
import { type PlanSource, unknownPlan } from '../plans/plan-source.ts';
import type { QuotaWindow } from '../usage/quota-period.ts';
import type { AccessTokenStore } from './access-token-store.ts';
import type { Account, AccountStore } from './account-store.ts';
import { hashPassword } from './password.ts';

export interface NewAccount {
  readonly email: string;
  /** Null for an account that nobody signs in to with one. */
  readonly password: string | null;
  readonly plan: PlanName;
}

/** An account, and whether it was made just now. */
interface FoundOrCreated {
  readonly account: Account;
  readonly created: boolean;
}

/** What is done to accounts, by whomever: every change is in the audit log when it resolves. */
export class AccountService {
  readonly #accounts: AccountStore;
  readonly #tokens: AccessTokenStore;
  readonly #audit: AuditLog;
  readonly #plans: PlanSource;

  constructor(parts: {
    accounts: AccountStore;
    tokens: AccessTokenStore;
    audit: AuditLog;
    plans: PlanSource;
  }) {
    this.#accounts = parts.accounts;
    this.#tokens = parts.tokens;
    this.#audit = parts.audit;
    this.#plans = parts.plans;
  }

  /** @throws PlatenError VALIDATION when there is no such plan. */
  requirePlan(plan: PlanName): void {
    const fault = unknownPlan(this.#plans, plan);
    if (fault !== undefined) throw new PlatenError('VALIDATION', fault);
  }

  /**
   * @returns undefined when the address has an account already.
   * @throws PlatenError VALIDATION when there is no such plan.
   */
  async create({ email, password, plan }: NewAccount, by: DoneBy): Promise<Account | undefined> {
    this.requirePlan(plan);
    const hash = password === null ? null : await hashPassword(password);
    const account = await this.#accounts.create(email, hash, plan, by.actor === 'operator');
    if (account !== undefined) await this.#record(account, 'account.registered', by, { plan });
    return account;
  }

  /** The account with this address, however it is otherwise; made as described when there is none. */
  async findOrCreate(described: NewAccount, by: DoneBy): Promise<FoundOrCreated> {
    const known = await this.#accounts.findByEmail(described.email);
    if (known !== undefined) return { account: known, created: false };
    const made = await this.create(described, by);
    // Another process may have made it at the same moment.
    const account = made ?? (await this.#accounts.findByEmail(described.email));
    if (account === undefined) throw new Error('An account is neither there nor can it be made.');
    return { account, created: made !== undefined };
  }

  /** The account of an issuer's subject, made at the first use; the issuer vouches for the address if there is one. */
  async findOrCreateFederated(
    { issuer, subject, email }: { issuer: string; subject: string; email: string | null },
    plan: PlanName,
    by: DoneBy,
  ): Promise<Account> {
    const { account, created } = await this.#accounts.findOrCreateFederated(issuer, subject, email, plan);
    if (created) await this.#record(account, 'account.registered', by, { plan, issuer });
    return account;
  }

  /** In force everywhere within a second. @throws PlatenError VALIDATION when there is no such plan. */
  async setPlan(account: Account, plan: PlanName, by: DoneBy): Promise<Account> {
    this.requirePlan(plan);
    await this.#accounts.setPlan(account._id, plan);
    await this.#record(account, 'account.plan_changed', by, { from: account.plan, to: plan });
    return { ...account, plan };
  }

  /**
   * The plan and the quota's period that the account's subscription says; in force everywhere within a second.
   *
   * @param quotaWindow null for the calendar month.
   * @param fence as of `AccountStore.followSubscription`.
   * @param cause for the audit log.
   * @returns false when a later one has written already, or the account is gone.
   */
  async followSubscription(
    accountId: string,
    to: { readonly plan: PlanName; readonly quotaWindow: QuotaWindow | null; readonly fence: number },
    cause: string,
  ): Promise<boolean> {
    const from = (await this.#accounts.planNames([accountId])).get(accountId);
    if (!(await this.#accounts.followSubscription(accountId, to))) return false;
    if (from === undefined || from === to.plan) return true;
    await this.#audit.record({
      accountId,
      action: 'account.plan_changed',
      ...BY_BILLING,
      details: { from, to: to.plan, cause },
    });
    return true;
  }

  /**
   * Ends the account's tokens as well: whoever had the old password may have one.
   *
   * @throws PlatenError VALIDATION for an account of an issuer.
   */
  async resetPassword(account: Account, password: string, by: DoneBy): Promise<void> {
    if (account.login === undefined) {
      throw new PlatenError(
        'VALIDATION',
        `Account ${account._id} signs in through an issuer and has no password.`,
      );
    }
    await this.#accounts.setPasswordHash(account._id, await hashPassword(password));
    await this.#record(account, 'account.password_reset', by);
    await this.revokeTokens(account, by);
  }

  /**
   * The account is the operator's from now on: to be said once nobody else can use it any more, since its password, tokens
   * and API keys have all been ended.
   */
  async takeOver(account: Account): Promise<void> {
    await this.#accounts.setByOperator(account._id);
  }

  /** Ends every bearer token of the account, at every process within a second. API keys go on working. */
  async revokeTokens(account: Account, by: DoneBy): Promise<void> {
    await this.#accounts.endTokens(account._id);
    await this.#tokens.deleteOf(account._id);
    await this.#record(account, 'account.tokens_revoked', by);
  }

  #record({ _id }: Account, action: AuditAction, by: DoneBy, details: Record<string, string> = {}) {
    return this.#audit.record({ accountId: _id, action, ...by, details });
  }
}
