import { createHash, randomUUID } from 'node:crypto';
import type { Connection, Model } from 'mongoose';
import { TtlCache } from '../async/ttl-cache.ts';
import type { Clock } from '../clock.ts';
import type { PlanName } from '../plans/plan.ts';
import { collectionSchema } from '../store/collection-schema.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';

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
}

/** A change of plan, or the end of all tokens, is in force everywhere after this time. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
/** Accounts that are looked up with one query. */
const NAMES_AT_ONCE = 1000;

/** Owns the accounts. */
export class AccountStore {
  readonly #model: Model<Account>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, Account | undefined>;

  constructor(connection: Connection, clock: Clock) {
    const schema = collectionSchema<Account>('accounts', {
      _id: String,
      email: String,
      login: String,
      passwordHash: String,
      plan: String,
      createdAt: Date,
      tokensNotBefore: Date,
    });
    schema.index({ login: 1 }, { unique: true, sparse: true });
    schema.index({ email: 1 });
    schema.index({ createdAt: 1 });
    this.#model = connection.model<Account>('Account', schema);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** As it was at most CACHE_MS ago. */
  find(accountId: string): Promise<Account | undefined> {
    return this.#cache.get(accountId, async () => {
      return ((await this.#model.findById(accountId).lean()) as Account | null) ?? undefined;
    });
  }

  /** The account that one signs in to with this address and a password. */
  async findByEmail(email: string): Promise<Account | undefined> {
    return (
      ((await this.#model.findOne({ login: email.toLowerCase() }).lean()) as Account | null) ?? undefined
    );
  }

  /** @returns undefined when the address has an account already. */
  async create(email: string, passwordHash: string | null, plan: PlanName): Promise<Account | undefined> {
    const login = email.toLowerCase();
    const account: Account = {
      _id: randomUUID(),
      email: login,
      login,
      passwordHash,
      plan,
      createdAt: this.#clock.now(),
    };
    return (await this.#insert(account)) ? account : undefined;
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
    const accountId = federatedId(issuer, subject);
    const known = await this.find(accountId);
    if (known === undefined) return this.#createFederated(accountId, email, plan);
    if (email === null || known.email === email) return { account: known, created: false };
    await this.#change(accountId, { email });
    return { account: { ...known, email }, created: false };
  }

  /** Oldest first. */
  async list(limit: number, offset: number): Promise<Account[]> {
    return (await this.#model
      .find()
      .sort({ createdAt: 1, _id: 1 })
      .skip(offset)
      .limit(limit)
      .lean()) as Account[];
  }

  /** Accounts shown with an address: the one that signs in with it, and any of an issuer. */
  async listByShownEmail(email: string): Promise<Account[]> {
    return (await this.#model.find({ email: email.toLowerCase() }).limit(100).lean()) as Account[];
  }

  /** The names of the plans of these accounts, as they are now; accounts that are gone are left out. */
  async planNames(accountIds: readonly string[]): Promise<Map<string, PlanName>> {
    const names = new Map<string, PlanName>();
    for (let i = 0; i < accountIds.length; i += NAMES_AT_ONCE) {
      const some = accountIds.slice(i, i + NAMES_AT_ONCE);
      const found = (await this.#model.find({ _id: { $in: some } }, { plan: 1 }).lean()) as Pick<
        Account,
        '_id' | 'plan'
      >[];
      for (const { _id, plan } of found) names.set(_id, plan);
    }
    return names;
  }

  async setPlan(accountId: string, plan: PlanName): Promise<void> {
    await this.#change(accountId, { plan });
  }

  async setPasswordHash(accountId: string, passwordHash: string): Promise<void> {
    await this.#change(accountId, { passwordHash });
  }

  /** Bearer tokens made until now end within CACHE_MS. */
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
    const created = await this.#insert(account);
    this.#cache.forget(accountId);
    if (created) return { account, created };
    // Another process made it at the same moment.
    const other = await this.find(accountId);
    if (other === undefined) throw new Error(`Account ${accountId} is neither there nor can it be made.`);
    return { account: other, created };
  }

  async #insert(account: Account): Promise<boolean> {
    try {
      await this.#model.collection.insertOne(account as never);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #change(accountId: string, fields: Partial<Account>): Promise<void> {
    await this.#model.updateOne({ _id: accountId }, { $set: fields });
    this.#cache.forget(accountId);
  }
}

/** The same for the same subject in every process: a UUID of RFC 9562's version 8, made from a hash of both names. */
function federatedId(issuer: string, subject: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
