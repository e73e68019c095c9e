import { PlatenError } from '../../infra/errors/registry.ts';
import { namedUuid } from '../../infra/ids/named-uuid.ts';
import type { AuditAction, DoneBy, UnrecordedChange } from '../audit/audit-log.ts';
import type { SignInDomain } from '../members/sign-in-domain-store.ts';
import { FREE_PLAN, type PlanName } from '../plans/plan.ts';
import { type PlanSource, unknownPlan } from '../plans/plan-source.ts';
import type { QuotaWindow } from '../plans/quota-period.ts';
import type { Account, Subscribed } from './account-store.ts';
import { hashPassword } from './password.ts';
import type { Stores } from './stores.ts';

export interface NewAccount {
  readonly email: string;
  /** Null for an account without a password. */
  readonly password: string | null;
  readonly plan: PlanName;
}

/** Attempts to update an account that other processes change concurrently. */
const TRIES = 20;

interface AccountServiceDeps extends Pick<Stores, 'accounts' | 'tokens' | 'audit'> {
  readonly plans: PlanSource;
}

/** All changes of accounts: each is in the audit log when its promise resolves. */
export class AccountService {
  readonly #deps: AccountServiceDeps;

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps;
  }

  /** @throws PlatenError VALIDATION when there is no plan of this name. */
  requirePlan(plan: PlanName): void {
    const error = unknownPlan(this.#deps.plans, plan);
    if (error !== undefined) throw new PlatenError('VALIDATION', error);
  }

  /** @returns undefined when the address has an account already. @throws PlatenError VALIDATION for an unknown plan. */
  async create({ email, password, plan }: NewAccount, by: DoneBy): Promise<Account | undefined> {
    this.requirePlan(plan);
    const hash = password === null ? null : await hashPassword(password);
    const account = await this.#deps.accounts.create(email, hash, plan, by.actor === 'operator');
    if (account !== undefined) await this.#record(account, 'account.registered', by, { plan });
    return account;
  }

  /** Makes the sign-in of a member, who has proved the address by an invitation, unless the address has one. */
  async createMember(email: string, password: string, by: DoneBy): Promise<void> {
    if ((await this.#deps.accounts.findByEmail(email)) !== undefined) return;
    const hash = await hashPassword(password);
    const account = await this.#deps.accounts.create(email, hash, FREE_PLAN, false, true);
    if (account !== undefined) await this.#record(account, 'account.registered', by, { plan: FREE_PLAN });
  }

  /** Gives the account another name. */
  async rename(account: Account, name: string, by: DoneBy): Promise<Account> {
    await this.#deps.accounts.setName(account._id, name);
    await this.#record(account, 'account.renamed', by, { name });
    return { ...account, name };
  }

  /** Sets whether only people with a second factor may act for the account. */
  async setRequiresSecondFactor(account: Account, required: boolean, by: DoneBy): Promise<void> {
    await this.#deps.accounts.setRequiresSecondFactor(account._id, required);
    await this.#record(account, 'account.second_factor_required', by, { required: `${required}` });
  }

  /** Sets whether headers and bodies of requests are kept in the log. */
  async setKeepsRequestDetails(account: Account, kept: boolean, by: DoneBy): Promise<void> {
    await this.#deps.accounts.setKeepsRequestDetails(account._id, kept);
    await this.#record(account, 'account.request_details_changed', by, { kept: `${kept}` });
  }

  /** The account with this address, whatever its plan; created as described when there is none. */
  async findOrCreate(described: NewAccount, by: DoneBy) {
    const known = await this.#deps.accounts.findByEmail(described.email);
    if (known !== undefined) return { account: known, created: false };
    const made = await this.create(described, by);
    // Another process may have made it at the same moment.
    const account = made ?? (await this.#deps.accounts.findByEmail(described.email));
    if (account === undefined) throw new Error('An account is neither there nor can it be made.');
    return { account, created: made !== undefined };
  }

  /** The account of an issuer's subject, made on `free` at its first use; the issuer has verified its address. */
  async findOrCreateFederated(
    { issuer, subject, email }: { issuer: string; subject: string; email: string | null },
    by: DoneBy,
  ): Promise<Account> {
    const plan = FREE_PLAN;
    const accountId = namedUuid(issuer, subject);
    const { account, created } = await this.#deps.accounts.findOrCreateFederated(accountId, email, plan);
    if (created) await this.#record(account, 'account.registered', by, { plan, issuer });
    return account;
  }

  /** The record of somebody who signs in at the issuer of another account; it is only a sign-in. */
  async findOrCreateManaged(
    personId: string,
    email: string,
    { accountId, domain, issuer }: Pick<SignInDomain, 'accountId' | 'domain' | 'issuer'>,
    by: DoneBy,
  ): Promise<Account> {
    const managed = { managedBy: accountId, signInDomain: domain, memberOnly: true } as const;
    const { account, created } = await this.#deps.accounts.findOrCreateFederated(
      personId,
      email,
      FREE_PLAN,
      managed,
    );
    if (created) await this.#record(account, 'account.registered', by, { plan: FREE_PLAN, issuer });
    return account;
  }

  /** In force in every process within a second. @throws PlatenError VALIDATION when there is no plan of this name. */
  async setPlan(account: Account, plan: PlanName, by: DoneBy): Promise<Account> {
    this.requirePlan(plan);
    await this.#deps.accounts.setPlan(account._id, plan);
    await this.#record(account, 'account.plan_changed', by, { from: account.plan, to: plan });
    return { ...account, plan };
  }

  /**
   * Gives the account the plan and the quota period of its subscription; in force in every process within a second.
   * Calling it again with the same subscription changes nothing. The changes are in the audit log when the promise
   * resolves; after a crash, when the next call does.
   *
   * @param fence grows from caller to caller.
   * @param cause for the audit log.
   * @param differs whether the subscription has changed; used for accounts that have no record of their last
   * subscription.
   * @returns false when a caller with a higher fence has written already, or when the account is deleted.
   */
  async followSubscription(
    accountId: string,
    to: Subscribed & { readonly fence: number },
    { cause, differs }: { readonly cause: string; readonly differs: boolean },
  ): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const seen = await this.#deps.accounts.findNow(accountId);
      if (seen === undefined) return !differs;
      await this.#recordFollowed(seen);
      const { subscribed, billingFence = 0 } = seen;
      if (subscribed === undefined ? !differs : isSame(subscribed, to)) return true;
      if (billingFence > to.fence) return false;
      const after = await this.#deps.accounts.followSubscription(seen, to, changesBetween(seen, to, cause));
      if (after === undefined) continue;
      await this.#recordFollowed(after);
      return true;
    }
    throw new Error(`Account ${accountId} was changed concurrently in ${TRIES} attempts.`);
  }

  /** Records in the audit log what a crashed process has changed and not recorded. */
  async recordFollowed(accountId: string): Promise<void> {
    const seen = await this.#deps.accounts.findNow(accountId);
    if (seen !== undefined) await this.#recordFollowed(seen);
  }

  /** @throws PlatenError VALIDATION for an account of an issuer. */
  requirePassword({ _id, login }: Account): void {
    if (login !== undefined) return;
    throw new PlatenError('VALIDATION', `Account ${_id} signs in through an issuer and has no password.`);
  }

  /**
   * Revokes the account's tokens as well: anybody with the old password may hold one.
   *
   * @returns false when the account has had another owner since it was read, and nothing was done.
   * @throws PlatenError VALIDATION for an account of an issuer.
   */
  async resetPassword(account: Account, password: string, by: DoneBy): Promise<boolean> {
    this.requirePassword(account);
    if (!(await this.#deps.accounts.setPasswordHash(account, await hashPassword(password)))) return false;
    await this.#record(account, 'account.password_reset', by);
    await this.revokeTokens(account, by);
    return true;
  }

  /**
   * Gives the account to the owner of its address, with a new password; the operator's word makes it the operator's.
   * What gave access to it before is not valid any more.
   *
   * @param account as the caller has read it.
   * @returns false when it was taken over since it was read.
   */
  async takeOver(account: Account, password: string, by: DoneBy): Promise<boolean> {
    const passwordHash = await hashPassword(password);
    const byOperator = by.actor === 'operator' && ({ byOperator: true } as const);
    const taken = await this.#deps.accounts.takeOver(account, { passwordHash, ...byOperator });
    if (taken === undefined) return false;
    await this.#record(account, 'account.password_reset', by);
    await this.#deps.tokens.deleteBefore(account._id, taken.tokensNotBefore!);
    await this.#record(account, 'account.tokens_revoked', by);
    return true;
  }

  /** Notes that the owner of the account has confirmed its address. */
  async confirmAddress(account: Account, by: DoneBy): Promise<void> {
    await this.#deps.accounts.setEmailVerified(account._id);
    await this.#record(account, 'account.address_confirmed', by);
  }

  /** Revokes every bearer token of the account, in every process within a second. API keys remain valid. */
  async revokeTokens(account: Account, by: DoneBy): Promise<void> {
    await this.#deps.accounts.endTokens(account._id);
    await this.#deps.tokens.deleteOf(account._id);
    await this.#record(account, 'account.tokens_revoked', by);
  }

  /**
   * Suspends the account: in every process within a second its keys, tokens and sessions are refused, and none of its
   * waiting jobs begins. Jobs that have begun end as usual.
   *
   * @param reason for the audit log, which the account sees once it is resumed.
   * @returns false when it was suspended already.
   */
  async suspend(account: Account, reason: string, by: DoneBy): Promise<boolean> {
    if (!(await this.#deps.accounts.setSuspended(account._id, true))) return false;
    await this.#record(account, 'account.suspended', by, { reason });
    return true;
  }

  /** Ends a suspension; the waiting jobs begin within a second. @returns false when there was none. */
  async resume(account: Account, by: DoneBy): Promise<boolean> {
    if (!(await this.#deps.accounts.setSuspended(account._id, false))) return false;
    await this.#record(account, 'account.resumed', by);
    return true;
  }

  /**
   * Marks the account as being deleted: from then on, in every process within a second, it is refused as a suspended
   * account is, and cannot be resumed.
   *
   * @returns false when it was marked already.
   */
  async markDeleting(account: Account, by: DoneBy): Promise<boolean> {
    if (!(await this.#deps.accounts.markDeleting(account._id, by.operator))) return false;
    await this.#record(account, 'account.deletion_requested', by);
    return true;
  }

  async #recordFollowed({ _id, unrecorded = [] }: Account): Promise<void> {
    for (const change of unrecorded) {
      await this.#deps.audit.recordOnce(_id, change);
      await this.#deps.accounts.recorded(_id, change.id);
    }
  }

  #record({ _id }: Account, action: AuditAction, by: DoneBy, details: Record<string, string> = {}) {
    return this.#deps.audit.record({ accountId: _id, action, ...by, details });
  }
}

function isSame(a: Subscribed, b: Subscribed): boolean {
  return a.plan === b.plan && nameOf(a.quotaWindow) === nameOf(b.quotaWindow);
}

/** The ids contain the fence, so that they are unique to one caller of `followSubscription`. */
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

/** A period in ISO 8601. */
function nameOf(window: QuotaWindow | null): string {
  if (window === null) return 'calendar month';
  return `${window.start.toISOString()}/${window.end.toISOString()}`;
}
