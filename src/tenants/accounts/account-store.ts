import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection } from '../../infra/store/collection.ts';
import { beyond, type KeysetPage } from '../../infra/store/keyset.ts';
import type { UnrecordedChange } from '../audit/audit-log.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Account, Subscribed } from './account.ts';
import { ACCOUNTS, type AccountSearch } from './account-collection.ts';

export type { Account, Subscribed } from './account.ts';
export type { AccountSearch } from './account-collection.ts';

/** A change of plan, or the revocation of all tokens, is in force in every process after this time, in milliseconds. */
export const ACCOUNT_CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
/** Accounts that a person may own by transfer, as far as they are looked for. */
const MAX_OWNED = 100;
/** Accounts that one query reads. */
const NAMES_AT_ONCE = 1000;

/** Owns the accounts. Changes go through the `AccountService`, which records them. */
export class AccountStore {
  readonly #accounts: Collection<Account>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, Account | undefined>;

  constructor(connection: Connection, clock: Clock) {
    this.#accounts = new Collection(connection, ACCOUNTS);
    this.#clock = clock;
    this.#cache = new TtlCache(ACCOUNT_CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** The account, at most ACCOUNT_CACHE_MS old. */
  find(accountId: string): Promise<Account | undefined> {
    return this.#cache.get(accountId, () => this.#accounts.findById(accountId));
  }

  /**
   * The account, at most ACCOUNT_CACHE_MS old, and not from before its owner had this fence.
   *
   * @returns undefined also when its fence is another one: what has the fence has ended.
   */
  async findOwned(accountId: string, ownerFence = 0): Promise<Account | undefined> {
    const fenceOf = (account: Account | undefined) => account?.ownerFence ?? 0;
    let account = await this.find(accountId);
    if (fenceOf(account) < ownerFence) {
      this.#cache.forget(accountId);
      account = await this.find(accountId);
    }
    return fenceOf(account) === ownerFence ? account : undefined;
  }

  /** The account that has this address and signs in with a password. */
  findByEmail(email: string): Promise<Account | undefined> {
    return this.#accounts.findOne({ login: email.toLowerCase() });
  }

  /**
   * @param byOperator whether the operator creates it.
   * @param member whether it is only the sign-in of a member, whose address an invitation has proved.
   * @returns undefined when the address has an account.
   */
  async create(
    email: string,
    passwordHash: string | null,
    plan: PlanName,
    byOperator = false,
    member = false,
  ): Promise<Account | undefined> {
    const login = email.toLowerCase();
    const account: Account = {
      _id: randomUUID(),
      email: login,
      login,
      passwordHash,
      plan,
      createdAt: this.#clock.now(),
      ...(byOperator && { byOperator }),
      ...(member && { memberOnly: true, emailVerifiedAt: this.#clock.now() }),
    };
    return (await this.#accounts.insertIfAbsent(account)) ? account : undefined;
  }

  /**
   * The record of an issuer's person, made at the first use.
   *
   * @param email an address that the issuer has verified, or null.
   * @param managed where the issuer is one of another account.
   */
  async findOrCreateFederated(
    accountId: string,
    email: string | null,
    plan: PlanName,
    managed: Pick<Account, 'managedBy' | 'signInDomain' | 'memberOnly'> = {},
  ): Promise<{ account: Account; created: boolean }> {
    const known = await this.find(accountId);
    if (known === undefined) return this.#createFederated(accountId, email, plan, managed);
    if (email === null || known.email === email) return { account: known, created: false };
    await this.#change(accountId, { email });
    return { account: { ...known, email }, created: false };
  }

  /** Oldest first. */
  list(limit: number, offset: number): Promise<Account[]> {
    return this.#accounts.find({}, { sort: { createdAt: 1, _id: 1 }, skip: offset, limit });
  }

  /** A page of the accounts that match, the newest first; those found by the beginning of an address, by address. */
  search({ email, plan, suspended }: AccountSearch, page: KeysetPage): Promise<Account[]> {
    const { limit } = page;
    if (email !== undefined) {
      const begins = email.toLowerCase();
      const bounds = { from: begins, to: `${begins}\uffff`, ascending: true };
      return this.#accounts.find(beyond('email', page, bounds), { sort: { email: 1, _id: 1 }, limit });
    }
    const filter = {
      ...(plan !== undefined && { plan }),
      ...(suspended && { suspendedAt: { $gt: new Date(0) } }),
      ...beyond<Account>('createdAt', page),
    };
    return this.#accounts.find(filter, { sort: { createdAt: -1, _id: -1 }, limit });
  }

  /** Accounts that are shown with this address: the one that signs in with it, and any issuer's accounts. */
  listByShownEmail(email: string): Promise<Account[]> {
    return this.#accounts.find({ email: email.toLowerCase() }, { limit: 100 });
  }

  /** The current plan of each of these accounts, and whether it is suspended; deleted accounts are left out. */
  async planNames(
    accountIds: readonly string[],
  ): Promise<Map<string, Pick<Account, 'plan' | 'suspendedAt'>>> {
    const names = new Map<string, Pick<Account, 'plan' | 'suspendedAt'>>();
    for (let i = 0; i < accountIds.length; i += NAMES_AT_ONCE) {
      const some = accountIds.slice(i, i + NAMES_AT_ONCE);
      const projection = { plan: 1, suspendedAt: 1 } as const;
      const found = await this.#accounts.find({ _id: { $in: some } }, { projection });
      for (const account of found) names.set(account._id, account);
    }
    return names;
  }

  /** These accounts, by id; deleted accounts are left out. */
  async some(accountIds: readonly string[]): Promise<Map<string, Account>> {
    const found = await this.#accounts.find({ _id: { $in: [...accountIds] } });
    return new Map(found.map((account) => [account._id, account]));
  }

  /** How many accounts have this plan. */
  countWithPlan(plan: PlanName): Promise<number> {
    return this.#accounts.count({ plan });
  }

  async setPlan(accountId: string, plan: PlanName): Promise<void> {
    await this.#change(accountId, { plan });
  }

  findNow(accountId: string): Promise<Account | undefined> {
    return this.#accounts.findById(accountId);
  }

  /**
   * Gives the account the plan and quota period of its subscription, and records the changes in the same update.
   *
   * @param seen the account as the caller has read it.
   * @param fence grows from writer to writer.
   * @returns the updated account; undefined when it has changed since it was read, and nothing was written.
   */
  async followSubscription(
    { _id, plan, billingFence }: Pick<Account, '_id' | 'plan' | 'billingFence'>,
    { fence, ...subscribed }: Subscribed & { readonly fence: number },
    changes: readonly Omit<UnrecordedChange, 'at'>[],
  ): Promise<Account | undefined> {
    const at = this.#clock.now();
    const unrecorded = changes.map((change) => ({ ...change, at }));
    try {
      return await this.#accounts.findOneAndUpdate(
        { _id, plan, billingFence: billingFence ?? { $exists: false } },
        {
          $set: { ...subscribed, billingFence: fence, subscribed },
          ...(unrecorded.length > 0 && { $push: { unrecorded: { $each: unrecorded } } }),
        },
      );
    } finally {
      // Also when the database's reply was lost: the update may have been written.
      this.#cache.forget(_id);
    }
  }

  /** Notes that a change is in the audit log. */
  async recorded(accountId: string, changeId: string): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $pull: { unrecorded: { id: changeId } } });
  }

  /** @returns false when the account has had another owner since it was read, and nothing was written. */
  async setPasswordHash(
    { _id, ownerFence }: Pick<Account, '_id' | 'ownerFence'>,
    passwordHash: string,
  ): Promise<boolean> {
    const asSeen = { _id, ownerFence: ownerFence ?? { $exists: false } };
    const isSet = await this.#accounts.updateOne(asSeen, { $set: { passwordHash } });
    this.#cache.forget(_id);
    return isSet;
  }

  /** The accounts whose ownership was transferred to a person. */
  ownedBy(personId: string): Promise<Account[]> {
    return this.#accounts.find({ ownerId: personId }, { limit: MAX_OWNED });
  }

  /**
   * Gives the account to another person.
   *
   * @param seen the account as the caller has read it.
   * @returns false when it has had another owner since, and nothing was written.
   */
  async setOwner(
    { _id, ownerId, ownerFence }: Pick<Account, '_id' | 'ownerId' | 'ownerFence'>,
    personId: string,
  ): Promise<boolean> {
    const asSeen = {
      _id,
      ownerId: ownerId ?? { $exists: false },
      ownerFence: ownerFence ?? { $exists: false },
    };
    const changed = await this.#accounts.updateOne(asSeen, { $set: { ownerId: personId } });
    this.#cache.forget(_id);
    return changed;
  }

  /** Some of the people who sign in at an account's issuer for a domain. */
  managedBy(accountId: string, signInDomain: string): Promise<Account[]> {
    return this.#accounts.find({ managedBy: accountId, signInDomain }, { limit: MAX_OWNED });
  }

  /** Deletes the record of somebody who signs in at an account's issuer. */
  async deleteManaged(personId: string): Promise<void> {
    await this.#accounts.deleteOne({ _id: personId, managedBy: { $exists: true } });
    this.#cache.forget(personId);
  }

  /** For which domains members may open the account only through the issuer; in force within ACCOUNT_CACHE_MS. */
  async setIssuerRequired(accountId: string, domains: readonly string[]): Promise<void> {
    await this.#change(accountId, { issuerRequiredFor: domains });
  }

  /** Whether only people with a second factor may act for the account; in force within ACCOUNT_CACHE_MS. */
  async setRequiresSecondFactor(accountId: string, required: boolean): Promise<void> {
    const change = required
      ? { $set: { requiresSecondFactor: true as const } }
      : { $unset: { requiresSecondFactor: '' } as const };
    await this.#accounts.updateOne({ _id: accountId }, change);
    this.#cache.forget(accountId);
  }

  /** Gives the account another name. */
  async setName(accountId: string, name: string): Promise<void> {
    await this.#change(accountId, { name });
  }

  /** Whether headers and bodies of requests are kept in the log; in force within ACCOUNT_CACHE_MS. */
  async setKeepsRequestDetails(accountId: string, kept: boolean): Promise<void> {
    const change = kept
      ? ({ $unset: { withoutRequestDetails: '' } } as const)
      : { $set: { withoutRequestDetails: true as const } };
    await this.#accounts.updateOne({ _id: accountId }, change);
    this.#cache.forget(accountId);
  }

  /** Notes which account a person acts for in browsers. */
  async setActsFor(personId: string, accountId: string): Promise<void> {
    await this.#change(personId, { actsFor: accountId });
  }

  /** Notes that the owner has confirmed the address. */
  async setEmailVerified(accountId: string): Promise<void> {
    await this.#change(accountId, { emailVerifiedAt: this.#clock.now() });
  }

  /**
   * Gives the account to the owner of its address, and ends by the same write, in every process within
   * ACCOUNT_CACHE_MS, whatever gives access to it.
   *
   * @param seen the account as the caller has read it.
   * @returns the updated account; undefined when it was taken over since it was read, and nothing was written.
   */
  async takeOver(
    { _id, ownerFence = 0 }: Pick<Account, '_id' | 'ownerFence'>,
    fields: Pick<Account, 'passwordHash'> & Partial<Pick<Account, 'byOperator'>>,
  ): Promise<Account | undefined> {
    const now = this.#clock.now();
    const times = { tokensNotBefore: now, takenOverAt: now };
    // The operator's word for the owner proves no address.
    const verified = fields.byOperator === undefined && { emailVerifiedAt: now };
    const $set = { ...fields, ...times, ...verified, ownerFence: ownerFence + 1 };
    const update = { $set, $unset: { ownerId: '', issuerRequiredFor: '' } as const };
    const asSeen = { _id, ownerFence: ownerFence === 0 ? { $exists: false } : ownerFence };
    try {
      return await this.#accounts.findOneAndUpdate(asSeen, update);
    } finally {
      // Also when the database's reply was lost: the update may have been written.
      this.#cache.forget(_id);
    }
  }

  /**
   * Suspends the account or ends its suspension; in force in every process within ACCOUNT_CACHE_MS.
   *
   * @returns false when it was so already or the account is being deleted, and nothing was written.
   */
  async setSuspended(accountId: string, suspended: boolean): Promise<boolean> {
    const asIs = {
      _id: accountId,
      suspendedAt: { $exists: !suspended },
      deletingSince: { $exists: false },
    };
    const change = suspended
      ? { $set: { suspendedAt: this.#clock.now() } }
      : { $unset: { suspendedAt: '' } as const };
    const changed = await this.#accounts.updateOne(asIs, change);
    this.#cache.forget(accountId);
    return changed;
  }

  /**
   * Marks the account as being deleted, and suspends it by the same write, for good; in force in every process within
   * ACCOUNT_CACHE_MS.
   *
   * @returns false when it was so already, or there is no such account.
   */
  async markDeleting(accountId: string, operator: string | undefined): Promise<boolean> {
    const now = this.#clock.now();
    const $set = { deletingSince: now, ...(operator !== undefined && { deletedBy: operator }) };
    try {
      return await this.#accounts.updateOne(
        { _id: accountId, deletingSince: { $exists: false } },
        { $set, $min: { suspendedAt: now } },
      );
    } finally {
      // Also when the database's reply was lost: the update may have been written.
      this.#cache.forget(accountId);
    }
  }

  /** Deletes an account that is marked; its address is free then. @returns false when there is none. */
  async deleteMarked(accountId: string): Promise<boolean> {
    const deleted = await this.#accounts.deleteOne({ _id: accountId, deletingSince: { $exists: true } });
    this.#cache.forget(accountId);
    return deleted;
  }

  /** Bearer tokens issued until now become invalid within ACCOUNT_CACHE_MS. */
  async endTokens(accountId: string): Promise<void> {
    await this.#change(accountId, { tokensNotBefore: this.#clock.now() });
  }

  async #createFederated(accountId: string, email: string | null, plan: PlanName, managed: Partial<Account>) {
    const account: Account = {
      _id: accountId,
      email,
      passwordHash: null,
      plan,
      createdAt: this.#clock.now(),
      ...managed,
    };
    const created = await this.#accounts.insertIfAbsent(account);
    this.#cache.forget(accountId);
    if (created) return { account, created };
    // Another process has created it concurrently.
    const other = await this.find(accountId);
    if (other === undefined) throw new Error(`Account ${accountId} is neither there nor can it be made.`);
    return { account: other, created };
  }

  async #change(accountId: string, fields: Partial<Account>): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $set: fields });
    this.#cache.forget(accountId);
  }
}

/** Read access to accounts; changes go through the `AccountService`. */
export type AccountReader = Pick<
  AccountStore,
  | 'find'
  | 'findNow'
  | 'findOwned'
  | 'findByEmail'
  | 'list'
  | 'listByShownEmail'
  | 'ownedBy'
  | 'planNames'
  | 'search'
  | 'some'
>;
