import { randomUUID } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';
import { TtlCache } from '../memory/ttl-cache.ts';
import type { PlanName } from '../plans/plan.ts';

export interface Account {
  readonly _id: string;
  /** Lower case. */
  readonly email: string;
  /** From `hashPassword`; null for an account that cannot sign in with one. */
  readonly passwordHash: string | null;
  readonly plan: PlanName;
  readonly createdAt: Date;
}

const DUPLICATE_KEY = 11000;
/** A change of plan is in force everywhere after this time. */
const CACHE_MS = 1000;
const CACHE_ENTRIES = 10_000;

/** Owns the accounts. */
export class AccountStore {
  readonly #model: Model<Account>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, Account | undefined>;

  constructor(connection: Connection, clock: Clock) {
    const schema = new Schema(
      { _id: String, email: String, passwordHash: String, plan: String, createdAt: Date },
      { versionKey: false, autoIndex: false, autoCreate: false, collection: 'accounts' },
    );
    schema.index({ email: 1 }, { unique: true });
    this.#model = connection.model<Account>('Account', schema as unknown as Schema<Account>);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** As it was at most a second ago. */
  find(accountId: string): Promise<Account | undefined> {
    return this.#cache.get(accountId, async () => {
      return ((await this.#model.findById(accountId).lean()) as Account | null) ?? undefined;
    });
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return (
      ((await this.#model.findOne({ email: email.toLowerCase() }).lean()) as Account | null) ?? undefined
    );
  }

  /** @returns undefined when the address has an account already. */
  async create(email: string, passwordHash: string | null, plan: PlanName): Promise<Account | undefined> {
    const account: Account = {
      _id: randomUUID(),
      email: email.toLowerCase(),
      passwordHash,
      plan,
      createdAt: this.#clock.now(),
    };
    try {
      await this.#model.collection.insertOne(account as never);
      return account;
    } catch (error) {
      if ((error as { code?: number }).code === DUPLICATE_KEY) return undefined;
      throw error;
    }
  }

  async setPlan(accountId: string, plan: PlanName): Promise<void> {
    await this.#model.updateOne({ _id: accountId }, { $set: { plan } });
    this.#cache.forget(accountId);
  }

  async setPasswordHash(accountId: string, passwordHash: string): Promise<void> {
    await this.#model.updateOne({ _id: accountId }, { $set: { passwordHash } });
    this.#cache.forget(accountId);
  }
}
