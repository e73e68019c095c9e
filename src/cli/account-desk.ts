import { randomBytes } from 'node:crypto';
import type { AccessTokenStore } from '../accounts/access-token-store.ts';
import type { Account, AccountStore } from '../accounts/account-store.ts';
import { PASSWORD_LENGTHS, passwordSchema } from '../accounts/credentials.ts';
import { hashPassword } from '../accounts/password.ts';
import type { AuditAction, AuditLog } from '../audit/audit-log.ts';
import type { PlanName } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import { CommandError } from './command-error.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const PASSWORD_BYTES = 15;

/** An account and a password that was made for it, or null if one was given. */
export interface WithPassword {
  readonly account: Account;
  readonly password: string | null;
}

/** What an operator does to accounts. Every change is in the audit log. */
export class AccountDesk {
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

  list(limit: number, offset: number): Promise<Account[]> {
    return this.#accounts.list(limit, offset);
  }

  /** @throws CommandError when the address has an account, or there is no such plan. */
  async create(email: string, plan: PlanName, given: string | undefined): Promise<WithPassword> {
    this.#checkPlan(plan);
    const password = given ?? newPassword();
    checkPassword(password);
    const account = await this.#accounts.create(email, await hashPassword(password), plan);
    if (account === undefined) throw new CommandError(`${email} has an account already.`);
    await this.#record(account, 'account.registered', { plan });
    return { account, password: given === undefined ? password : null };
  }

  /** @param who an account's id or e-mail address. */
  async setPlan(who: string, plan: PlanName): Promise<Account> {
    this.#checkPlan(plan);
    const account = await this.#one(who);
    await this.#accounts.setPlan(account._id, plan);
    await this.#record(account, 'account.plan_changed', { from: account.plan, to: plan });
    return { ...account, plan };
  }

  /** Ends the account's tokens as well: whoever had the old password may have one. */
  async resetPassword(who: string, given: string | undefined): Promise<WithPassword> {
    const password = given ?? newPassword();
    checkPassword(password);
    const account = await this.#one(who);
    if (account.login === undefined) {
      throw new CommandError(`Account ${account._id} signs in through an issuer and has no password.`);
    }
    await this.#accounts.setPasswordHash(account._id, await hashPassword(password));
    await this.#record(account, 'account.password_reset', {});
    await this.revokeTokens(account._id);
    return { account, password: given === undefined ? password : null };
  }

  /** Ends every bearer token of the account, at every process within a second. API keys go on working. */
  async revokeTokens(who: string): Promise<Account> {
    const account = await this.#one(who);
    await this.#accounts.endTokens(account._id);
    await this.#tokens.deleteOf(account._id);
    await this.#record(account, 'account.tokens_revoked', {});
    return account;
  }

  #checkPlan(plan: PlanName): void {
    if (this.#plans.has(plan)) return;
    throw new CommandError(`${plan} is no plan; ${this.#plans.names().join(', ')} are.`);
  }

  async #one(who: string): Promise<Account> {
    if (UUID.test(who)) {
      const account = await this.#accounts.find(who.toLowerCase());
      if (account === undefined) throw new CommandError(`There is no account ${who}.`);
      return account;
    }
    const signsIn = await this.#accounts.findByEmail(who);
    const accounts = signsIn === undefined ? await this.#accounts.listByShownEmail(who) : [signsIn];
    if (accounts.length > 1) {
      const ids = accounts.map(({ _id }) => _id).join(', ');
      throw new CommandError(`Several accounts have the address ${who}; name one by its id: ${ids}`);
    }
    if (accounts[0] === undefined) throw new CommandError(`There is no account with the address ${who}.`);
    return accounts[0];
  }

  #record({ _id }: Account, action: AuditAction, details: Record<string, string>): Promise<void> {
    return this.#audit.record({ accountId: _id, action, actor: 'operator', details });
  }
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

function checkPassword(password: string): void {
  if (passwordSchema.safeParse(password).success) return;
  const { min, max } = PASSWORD_LENGTHS;
  throw new CommandError(`The password must have ${min} to ${max} characters.`);
}
