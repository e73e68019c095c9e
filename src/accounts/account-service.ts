import type { AuditAction, AuditLog, DoneBy, UnrecordedChange } from '../audit/audit-log.ts';
import { PlatenError } from '../errors/registry.ts';
import type { PlanName } from '../plans/plan.ts';
import { type PlanSource, unknownPlan } from '../plans/plan-source.ts';
import type { QuotaWindow } from '../usage/quota-period.ts';
import type { AccessTokenStore } from './access-token-store.ts';
import type { Account, AccountStore, Subscribed } from './account-store.ts';
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

/** Others change an account at the same time; this often it is looked at anew. */
const TRIES = 20;

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
   * The plan and the quota's period that the account's subscription says; in force everywhere within a second. What was given
   * before is not given again. What that changes is in the audit log when it resolves; after a crash, when it is called
   * again.
   *
   * @param fence grows from one who calls to the next.
   * @param cause for the audit log.
   * @param differs whether it is something else than what was said before; for accounts that do not know that themselves.
   * @returns false when a later one has written already, or the account is gone.
   */
  async followSubscription(
    accountId: string,
    to: Subscribed & { readonly fence: number },
    { cause, differs }: { readonly cause: string; readonly differs: boolean },
  ): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const seen = await this.#accounts.findNow(accountId);
      if (seen === undefined) return !differs;
      await this.#recordFollowed(seen);
      const { subscribed, billingFence = 0 } = seen;
      if (subscribed === undefined ? !differs : isSame(subscribed, to)) return true;
      if (billingFence > to.fence) return false;
      const after = await this.#accounts.followSubscription(seen, to, changesBetween(seen, to, cause));
      if (after === undefined) continue;
      await this.#recordFollowed(after);
      return true;
    }
    throw new Error(`Account ${accountId} changes all the time.`);
  }

  /** What a process that has died since has changed and not recorded. */
  async recordFollowed(accountId: string): Promise<void> {
    const seen = await this.#accounts.findNow(accountId);
    if (seen !== undefined) await this.#recordFollowed(seen);
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

  async #recordFollowed({ _id, unrecorded = [] }: Account): Promise<void> {
    for (const change of unrecorded) {
      await this.#audit.recordOnce(_id, change);
      await this.#accounts.recorded(_id, change.id);
    }
  }

  #record({ _id }: Account, action: AuditAction, by: DoneBy, details: Record<string, string> = {}) {
    return this.#audit.record({ accountId: _id, action, ...by, details });
  }
}

function isSame(a: Subscribed, b: Subscribed): boolean {
  return a.plan === b.plan && nameOf(a.quotaWindow) === nameOf(b.quotaWindow);
}

/** Named by the fence of whoever makes them, who makes no others. */
function changesBetween(
  { plan, quotaWindow = null }: Account,
  to: Subscribed & { readonly fence: number },
  cause: string,
): Omit<UnrecordedChange, 'at'>[] {
  const changes = [
    { what: 'plan', action: 'account.plan_changed', from: plan, to: to.plan },
    {
      what: 'quota-period',
      action: 'account.quota_period_changed',
      from: nameOf(quotaWindow),
      to: nameOf(to.quotaWindow),
    },
  ] as const;
  return changes
    .filter(({ from, to }) => from !== to)
    .map(({ what, action, from, to: now }) => ({
      id: `subscription:${to.fence}:${what}`,
      action,
      details: { from, to: now, cause },
    }));
}

/** A period as ISO 8601 writes it. */
function nameOf(window: QuotaWindow | null): string {
  if (window === null) return 'calendar month';
  return `${window.start.toISOString()}/${window.end.toISOString()}`;
}
