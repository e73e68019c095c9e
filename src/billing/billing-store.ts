import type { Connection } from 'mongoose';
import { backoffMs } from '../async/backoff.ts';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import { LEASE_MS } from './leases.ts';
import type { Operation } from './operations.ts';
import type { SubscriptionState } from './subscription.ts';

/** A hosted page that may still be open, so that no second one is opened beside it. */
interface OpenPage {
  /** The idempotency key that it was or will be made with, or what that follows from. */
  readonly key: string;
  readonly priceId: string;
  readonly openedAt: Date;
  /** Absent until Stripe has answered. */
  readonly sessionId?: string;
  readonly url?: string;
  readonly expiresAt?: Date;
}

/** Of each kind of page an account has one open at most. */
export interface OpenPages {
  readonly checkout: OpenPage & { readonly plan: string };
  /** For a block; the key is the block's id. */
  readonly topUp: OpenPage & { readonly units: number; readonly priceCents: number };
}

/** What is owed to an account whose customer has had something happen to it, and what was found last. */
export interface BillingAccount extends Partial<OpenPages> {
  /** The account. */
  readonly _id: string;
  /** Absent until the customer is made, and when it was deleted at the provider. */
  readonly customerId?: string;
  /** Part of the key that makes the customer: one that was deleted is made anew under the next one. */
  readonly generation: number;
  /** Raised by everything that may have changed the customer's state. */
  readonly wanted: number;
  /** As far as the state below takes account of them. */
  readonly noted: number;
  /** Raised by everyone who claims the account: only the last one may write. */
  readonly fence: number;
  /** When it is to be looked at; absent while there is nothing to do. */
  readonly dueAt?: Date;
  /** Until then one has it, and nobody else looks at it or changes anything; absent while nobody has. */
  readonly claimedUntil?: Date;
  /** Failures in a row. */
  readonly failures: number;
  /** What the last event was, for the audit log. */
  readonly cause?: string;
  readonly state?: SubscriptionState;
  /** What the state will be once it is noted: said before the account is given what follows from it. */
  readonly coming?: SubscriptionState;
  /** The call that is under way. */
  readonly operation?: Operation;
  /** What a change was said to cost last, and by which second that was reckoned. */
  readonly preview?: { readonly subscriptionId: string; readonly priceId: string; readonly date: number };
  readonly createdAt: Date;
}

/** An account that somebody has claimed, as it was then. */
export type ClaimedAccount = BillingAccount & { readonly customerId: string };

const ACCOUNTS: CollectionSpec = {
  name: 'billing_accounts',
  indexes: [
    { fields: { customerId: 1 }, unique: true, sparse: true },
    { fields: { dueAt: 1 }, sparse: true },
    { fields: { 'state.halfMadeSince': 1 }, sparse: true },
  ],
  looksAt: { asked: ['claimedUntil'], because: 'of those that are due, the ones that somebody has: a few' },
};

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 300_000;
/** The cause of a look that goes on with the one before: nothing has been heard of the customer since. */
export const CARRIED_ON = 'carried on';
/** Stripe knows an idempotency key for a day; nobody relies on its last hour. In milliseconds. */
export const KEY_MS = 23 * 3_600_000;

/**
 * Owns what is known of the accounts as customers. An event is only a hint: it raises `wanted`. Whoever claims the account has
 * it to themselves until they note what they have found, or their lease ends: they read the counter, ask the provider, and
 * write the outcome if nobody has claimed it since; where the counter has grown meanwhile the account is due again.
 */
export class BillingStore {
  readonly #accounts: Collection<BillingAccount>;
  readonly #clock: Clock;
  readonly #random: () => number;

  constructor(connection: Connection, clock: Clock, random: () => number = Math.random) {
    this.#accounts = new Collection(connection, ACCOUNTS);
    this.#clock = clock;
    this.#random = random;
  }

  find(accountId: string): Promise<BillingAccount | undefined> {
    return this.#accounts.findById(accountId);
  }

  findByCustomer(customerId: string): Promise<BillingAccount | undefined> {
    return this.#accounts.findOne({ customerId });
  }

  /** The account as a customer; made when there is none. */
  async open(accountId: string): Promise<BillingAccount> {
    return this.#accounts.upsert(accountId, {
      $setOnInsert: {
        generation: 1,
        wanted: 0,
        noted: 0,
        fence: 0,
        failures: 0,
        createdAt: this.#clock.now(),
      },
    });
  }

  /** @returns false when it has another one, or another account has this one. */
  async setCustomer(accountId: string, generation: number, customerId: string): Promise<boolean> {
    return this.#accounts.updateOne(
      { _id: accountId, generation, customerId: { $exists: false } },
      { $set: { customerId } },
    );
  }

  /** The key that should have made the customer is of no more use. */
  async nextGeneration(accountId: string, generation: number): Promise<void> {
    await this.#accounts.updateOne(
      { _id: accountId, generation, customerId: { $exists: false } },
      { $inc: { generation: 1 } },
    );
  }

  /** The customer was deleted at the provider; the next one is another. */
  async unlink({ _id, fence, customerId }: ClaimedAccount): Promise<void> {
    await this.#accounts.updateOne(
      { _id, fence, customerId },
      { $unset: { customerId: '', checkout: '', topUp: '' }, $inc: { generation: 1 } },
    );
  }

  /** Durable when it resolves. @returns false when no account has this customer. */
  want(customerId: string, cause: string): Promise<boolean> {
    return this.#accounts.updateOne({ customerId }, this.#wanted(cause));
  }

  /** @returns false when the account is no customer. */
  wantAccount(accountId: string, cause: string): Promise<boolean> {
    return this.#accounts.updateOne({ _id: accountId, customerId: { $exists: true } }, this.#wanted(cause));
  }

  /** Not all could be read in this look: the next follows it at once, unless another one does anyway. */
  async carryOn({ _id, fence, wanted }: ClaimedAccount): Promise<void> {
    await this.#accounts.updateOne(
      { _id, fence, wanted },
      { $inc: { wanted: 1 }, $set: { cause: CARRIED_ON } },
    );
  }

  #wanted(cause: string) {
    return { $inc: { wanted: 1 }, $set: { dueAt: this.#clock.now(), cause } };
  }

  /** Accounts that are to be looked at and that nobody has, those that have waited longest first. */
  due(limit: number): Promise<BillingAccount[]> {
    return this.#accounts.find(
      { dueAt: { $lte: this.#clock.now() }, ...this.#free() },
      { sort: { dueAt: 1 }, limit },
    );
  }

  /**
   * @param account.dueAt where it is given, it must still be due since then.
   * @returns undefined when somebody else has it, or there is nobody to ask about.
   */
  async claim({ _id, dueAt }: Pick<BillingAccount, '_id' | 'dueAt'>): Promise<ClaimedAccount | undefined> {
    const claimed = await this.#accounts.findOneAndUpdate(
      { _id, ...(dueAt !== undefined && { dueAt }), ...this.#free() },
      // Due, so that others go on with it when the lease ends.
      { $inc: { fence: 1 }, $set: { claimedUntil: this.#leaseEnd(), dueAt: this.#clock.now() } },
    );
    if (claimed === undefined) return undefined;
    const { customerId, fence } = claimed;
    if (customerId !== undefined) return { ...claimed, customerId };
    await this.#accounts.updateOne({ _id, fence }, { $unset: { dueAt: '', claimedUntil: '' } });
    return undefined;
  }

  /** @returns the account as it is now, of which more may be wanted; undefined when it is not theirs any more. */
  async renew({ _id, fence, customerId }: ClaimedAccount): Promise<ClaimedAccount | undefined> {
    const kept = await this.#accounts.findOneAndUpdate(
      { _id, fence, claimedUntil: { $exists: true } },
      { $set: { claimedUntil: this.#leaseEnd() } },
    );
    return kept && { ...kept, customerId };
  }

  /** Leaves a claimed account to the next who comes by, who is to look at it. */
  async leave({ _id, fence }: ClaimedAccount): Promise<void> {
    await this.#accounts.updateOne(
      { _id, fence },
      { $set: { dueAt: this.#clock.now() }, $unset: { claimedUntil: '' } },
    );
  }

  /** Says what will be noted. @returns false when somebody else has claimed the account since. */
  announce({ _id, fence }: ClaimedAccount, coming: SubscriptionState): Promise<boolean> {
    return this.#accounts.updateOne({ _id, fence }, { $set: { coming } });
  }

  #free() {
    return { claimedUntil: { $not: { $gt: this.#clock.now() } } };
  }

  #leaseEnd(): Date {
    return new Date(this.#clock.now().getTime() + LEASE_MS);
  }

  /** Ends the claim. @returns false when somebody else has claimed the account since: nothing was written then. */
  async note({ _id, fence, wanted }: ClaimedAccount, state: SubscriptionState): Promise<boolean> {
    const noted = { state, noted: wanted, failures: 0 };
    const over = { claimedUntil: '', coming: '' } as const;
    const next = state.lookAgainAt;
    const rests = await this.#accounts.updateOne(
      { _id, fence, wanted },
      next === null
        ? { $set: noted, $unset: { ...over, dueAt: '' } }
        : { $set: { ...noted, dueAt: next }, $unset: over },
    );
    if (rests) return true;
    // An event has come meanwhile: once more round.
    return this.#accounts.updateOne(
      { _id, fence },
      { $set: { ...noted, dueAt: this.#clock.now() }, $unset: over },
    );
  }

  /** It could not be looked at: later, and later still the more often that happens. */
  async postpone({ _id, fence, failures }: ClaimedAccount): Promise<void> {
    const delay = backoffMs(failures + 1, FIRST_BACKOFF_MS, MAX_BACKOFF_MS, this.#random);
    const dueAt = new Date(this.#clock.now().getTime() + delay);
    await this.#accounts.updateOne(
      { _id, fence },
      { $set: { dueAt }, $unset: { claimedUntil: '' }, $inc: { failures: 1 } },
    );
  }

  /** Notes that a page is about to be made. @returns false when another one was noted since the account was read. */
  notePage<K extends keyof OpenPages>(
    account: BillingAccount,
    kind: K,
    page: OpenPages[K],
  ): Promise<boolean> {
    const before = account[kind];
    const unchanged = before === undefined ? { [kind]: { $exists: false } } : { [`${kind}.key`]: before.key };
    return this.#accounts.updateOne({ _id: account._id, ...unchanged }, { $set: { [kind]: page } });
  }

  /** Keeps what a page that was noted has become. */
  async keepPage<K extends keyof OpenPages>(accountId: string, kind: K, page: OpenPages[K]): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId, [`${kind}.key`]: page.key }, { $set: { [kind]: page } });
  }

  async forgetPage(accountId: string, kind: keyof OpenPages, key: string): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId, [`${kind}.key`]: key }, { $unset: { [kind]: '' } });
  }

  async keepPreview(accountId: string, preview: NonNullable<BillingAccount['preview']>): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $set: { preview } });
  }

  /** Stores what is about to be called. @returns the same call if it is under way already, or was never answered. */
  async beginOperation(accountId: string, operation: Omit<Operation, 'at'>): Promise<Operation> {
    const at = this.#clock.now();
    const begun: Operation = { ...operation, at };
    const fresh = new Date(at.getTime() - KEY_MS);
    const known = await this.#accounts.findById(accountId, { operation: 1 });
    const { name } = operation;
    if (known?.operation?.name === name && known.operation.at > fresh) return known.operation;
    const unchanged =
      known?.operation === undefined
        ? { operation: { $exists: false } }
        : { 'operation.key': known.operation.key };
    const done = await this.#accounts.updateOne(
      { _id: accountId, ...unchanged },
      { $set: { operation: begun } },
    );
    return done ? begun : this.beginOperation(accountId, operation);
  }

  async endOperation(accountId: string, key: string): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId, 'operation.key': key }, { $unset: { operation: '' } });
  }

  /** Some whose schedule was half-made at the last look, and was made before then. */
  halfMade(before: Date, limit: number): Promise<BillingAccount[]> {
    const field = 'state.halfMadeSince';
    return this.#accounts.find({ [field]: { $lte: before } }, { sort: { [field]: 1 }, limit });
  }

  /** Those who are customers, from one account on in the order of their ids; for the reconcile. */
  after(accountId: string, limit: number): Promise<BillingAccount[]> {
    return this.#accounts.find({ _id: { $gt: accountId } }, { sort: { _id: 1 }, limit });
  }
}
