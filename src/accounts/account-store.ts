import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { TtlCache } from '../async/ttl-cache.ts';
import type { UnrecordedChange } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { namedUuid } from '../named-uuid.ts';
import type { PlanName } from '../plans/plan.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { QuotaWindow } from '../usage/quota-period.ts';

/** What an account has by its subscription. */
export interface Subscribed {
  readonly plan: PlanName;
  /** Null for the calendar month. */
  readonly quotaWindow: QuotaWindow | null;
}

export interface Account {
  readonly _id: string;
  /** As it is shown. Null for an account of an issuer that vouches for none. */
  readonly email: string | null;
  /**
   * The address, in lower case, that one signs in to with a password. An account of an issuer has none: whoever has an
   * address there need not be who has registered it here.
   */
  readonly login?: string;
  /** From `hashPassword`; null for an account that cannot sign in with one. */
  readonly passwordHash: string | null;
  readonly plan: PlanName;
  readonly createdAt: Date;
  /** Bearer tokens made earlier are not valid. */
  readonly tokensNotBefore?: Date;
  /** Whoever operates the service has made it, or has taken it from whoever had it; absent of all others. */
  readonly byOperator?: true;
  /** The period of its subscription whose quota is used; absent or null for the calendar month. */
  readonly quotaWindow?: QuotaWindow | null;
  /** Who has written the two of them last on behalf of the subscription. */
  readonly billingFence?: number;
  /** What was written then: a plan that was set by hand since stays until the subscription says something else. */
  readonly subscribed?: Subscribed;
  /** What was changed then and is not in the audit log yet. */
  readonly unrecorded?: readonly UnrecordedChange[];
}

/** A change of plan, or the end of all tokens, is in force everywhere after this time. */
export const ACCOUNT_CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
/** Accounts that are looked up with one query. */
const NAMES_AT_ONCE = 1000;

const ACCOUNTS: CollectionSpec = {
  name: 'accounts',
  indexes: [
    { fields: { login: 1 }, unique: true, sparse: true },
    { fields: { email: 1 } },
    { fields: { createdAt: 1 } },
    { fields: { plan: 1 } },
  ],
  scans: { '{} sort createdAt, _id': 'one page, for whoever operates the service' },
};

/** Owns the accounts. What is done to them goes through the `AccountService`, which records it. */
export class AccountStore {
  readonly #accounts: Collection<Account>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, Account | undefined>;

  constructor(connection: Connection, clock: Clock) {
    this.#accounts = new Collection(connection, ACCOUNTS);
    this.#clock = clock;
    this.#cache = new TtlCache(ACCOUNT_CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** As it was at most ACCOUNT_CACHE_MS ago. */
  find(accountId: string): Promise<Account | undefined> {
    return this.#cache.get(accountId, () => this.#accounts.findById(accountId));
  }

  /** The account that one signs in to with this address and a password. */
  findByEmail(email: string): Promise<Account | undefined> {
    return this.#accounts.findOne({ login: email.toLowerCase() });
  }

  /**
   * @param byOperator whether it is made by whoever operates the service.
   * @returns undefined when the address has an account already.
   */
  async create(
    email: string,
    passwordHash: string | null,
    plan: PlanName,
    byOperator = false,
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
    };
    return (await this.#accounts.insertIfAbsent(account)) ? account : undefined;
  }

  /**
   * The account of an issuer's subject, made at the first use.
   *
   * @param email one that the issuer vouches for, or null.
   */
  async findOrCreateFederated(
    issuer: string,
    subject: string,
    email: string | null,
    plan: PlanName,
  ): Promise<{ account: Account; created: boolean }> {
    const accountId = namedUuid(issuer, subject);
    const known = await this.find(accountId);
    if (known === undefined) return this.#createFederated(accountId, email, plan);
    if (email === null || known.email === email) return { account: known, created: false };
    await this.#change(accountId, { email });
    return { account: { ...known, email }, created: false };
  }

  /** Oldest first. */
  list(limit: number, offset: number): Promise<Account[]> {
    return this.#accounts.find({}, { sort: { createdAt: 1, _id: 1 }, skip: offset, limit });
  }

  /** Accounts shown with an address: the one that signs in with it, and any of an issuer. */
  listByShownEmail(email: string): Promise<Account[]> {
    return this.#accounts.find({ email: email.toLowerCase() }, { limit: 100 });
  }

  /** The names of the plans of these accounts, as they are now; accounts that are gone are left out. */
  async planNames(accountIds: readonly string[]): Promise<Map<string, PlanName>> {
    const names = new Map<string, PlanName>();
    for (let i = 0; i < accountIds.length; i += NAMES_AT_ONCE) {
      const some = accountIds.slice(i, i + NAMES_AT_ONCE);
      const found = await this.#accounts.find({ _id: { $in: some } }, { projection: { plan: 1 } });
      for (const { _id, plan } of found) names.set(_id, plan);
    }
    return names;
  }

  /** How many accounts have this plan. */
  countWithPlan(plan: PlanName): Promise<number> {
    return this.#accounts.count({ plan });
  }

  async setPlan(accountId: string, plan: PlanName): Promise<void> {
    await this.#change(accountId, { plan });
  }

  /** As it is at this moment. */
  findNow(accountId: string): Promise<Account | undefined> {
    return this.#accounts.findById(accountId);
  }

  /**
   * Gives the account what its subscription says, and notes in the same update what that changes.
   *
   * @param seen as it was when that was found out.
   * @param fence grows from one who writes to the next.
   * @returns as it is then; undefined when somebody has changed it since: nothing was written then.
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
      // Also where the answer was lost: it may have been written.
      this.#cache.forget(_id);
    }
  }

  /** A change is in the audit log. */
  async recorded(accountId: string, changeId: string): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $pull: { unrecorded: { id: changeId } } });
  }

  async setPasswordHash(accountId: string, passwordHash: string): Promise<void> {
    await this.#change(accountId, { passwordHash });
  }

  /** It is the operator's from now on. */
  async setByOperator(accountId: string): Promise<void> {
    await this.#change(accountId, { byOperator: true });
  }

  /** Bearer tokens made until now end within ACCOUNT_CACHE_MS. */
  async endTokens(accountId: string): Promise<void> {
    await this.#change(accountId, { tokensNotBefore: this.#clock.now() });
  }

  async #createFederated(accountId: string, email: string | null, plan: PlanName) {
    const account: Account = {
      _id: accountId,
      email,
      passwordHash: null,
      plan,
      createdAt: this.#clock.now(),
    };
    const created = await this.#accounts.insertIfAbsent(account);
    this.#cache.forget(accountId);
    if (created) return { account, created };
    // Another process made it at the same moment.
    const other = await this.find(accountId);
    if (other === undefined) throw new Error(`Account ${accountId} is neither there nor can it be made.`);
    return { account: other, created };
  }

  async #change(accountId: string, fields: Partial<Account>): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $set: fields });
    this.#cache.forget(accountId);
  }
}

/** What may be known of accounts; what is done to them goes through the `AccountService`. */
export type AccountReader = Pick<
  AccountStore,
  'find' | 'findNow' | 'findByEmail' | 'list' | 'listByShownEmail' | 'planNames'
>;

/** Where an account's owner gets mail; null without an account or an address. */
export async function emailOf(
  accounts: Pick<AccountReader, 'find'>,
  accountId: string,
): Promise<string | null> {
  return (await accounts.find(accountId))?.email ?? null;
}
