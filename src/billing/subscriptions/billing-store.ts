import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';
import type { SubscriptionState } from './entitlement.ts';

/** A hosted page that may still be open; it is noted so that no second one is opened meanwhile. */
interface OpenPage {
  /** The idempotency key that the page was or will be made with, or the value that the key follows from. */
  readonly key: string;
  readonly priceId: string;
  readonly openedAt: Date;
  /** Absent until Stripe has responded. */
  readonly sessionId?: string;
  readonly url?: string;
  readonly expiresAt?: Date;
}

/** An account has at most one open page of each kind. */
export interface OpenPages {
  readonly checkout: OpenPage & { readonly plan: string };
  /** For a block; the key is the block's id. */
  readonly blockCheckout: OpenPage & { readonly units: number; readonly priceCents: number };
}

/** A call to the provider that is under way, or whose response was lost. */
export interface Operation {
  /** The action of the call and its object: a later request for the same action repeats this very call. */
  readonly name: string;
  readonly key: string;
  /** A value that must be the same in every repetition; 0 when the call needs none. */
  readonly value: number;
  readonly at: Date;
}

/** The sync that is due for an account after an event about its customer, and the result of the last sync. */
export interface BillingAccount extends Due, Partial<OpenPages> {
  /** The account. */
  readonly _id: string;
  /** Absent until the customer is made, and after it was deleted at the provider. */
  readonly customerId?: string;
  /** Part of the key that makes the customer: a deleted customer is made anew under the next generation. */
  readonly generation: number;
  /** Raised by every event that may have changed the customer's state. */
  readonly wanted: number;
  /** The value of `wanted` that `state` accounts for. */
  readonly noted: number;
  readonly fence: number;
  /**
   * The end of the holder's lease, the same as `dueAt`. An event that finds both equal does not make the account due,
   * since the holder sees that `wanted` has grown. Absent while the account is not claimed.
   */
  readonly claimedUntil?: Date;
  /** The last event, for the audit log. */
  readonly cause?: string;
  readonly state?: SubscriptionState;
  /** The state that is about to be noted: stored before the account gets the plan and quota that follow from it. */
  readonly coming?: SubscriptionState;
  readonly operation?: Operation;
  /** The price that was previewed last, and the second by which it was prorated. */
  readonly preview?: { readonly subscriptionId: string; readonly priceId: string; readonly date: number };
  readonly createdAt: Date;
}

/** A claimed account, as it was when it was claimed. */
export type ClaimedAccount = BillingAccount & { readonly customerId: string };

/** Removes the claim. */
const FREE = { $unset: { claimedUntil: '' } } as const;

const ACCOUNTS: CollectionSpec = {
  name: 'billing_accounts',
  account: '_id',
  indexes: [
    { fields: { customerId: 1 }, unique: true, sparse: true },
    DUE_INDEX,
    { fields: { 'state.halfMadeSince': 1 }, sparse: true },
  ],
  filtersBy: { fields: ['claimedUntil'], reason: 'a customer is one account' },
};

/** The cause of a check that continues the one before: no event about the customer has come since. */
export const CARRIED_ON = 'carried on';
/** In milliseconds. Stripe keeps an idempotency key for 24 hours; the last hour is not relied on. */
export const KEY_MS = 23 * 3_600_000;

/**
 * Owns the accounts' state as customers. An event is only a hint: it raises `wanted`. A process that claims an account
 * has it to itself until it notes its result or its lease ends: it reads the counter, queries the provider, and writes
 * the result unless another process has claimed the account since. If the counter has grown meanwhile, the account is
 * due again.
 */
export class BillingStore extends DueQueue<BillingAccount> {
  constructor(connection: Connection, clock: Clock, random: () => number = Math.random) {
    super(new Collection(connection, ACCOUNTS), clock, { random });
  }

  findByCustomer(customerId: string): Promise<BillingAccount | undefined> {
    return this.records.findOne({ customerId });
  }

  /** The account as a customer; created when it is none yet. */
  async open(accountId: string): Promise<BillingAccount> {
    return this.records.upsert(accountId, {
      $setOnInsert: {
        generation: 1,
        wanted: 0,
        noted: 0,
        fence: 0,
        failures: 0,
        createdAt: this.clock.now(),
      },
    });
  }

  /** @returns false when the account has another customer, or the customer belongs to another account. */
  async setCustomer(accountId: string, generation: number, customerId: string): Promise<boolean> {
    return this.records.updateOne(
      { _id: accountId, generation, customerId: { $exists: false } },
      { $set: { customerId } },
    );
  }

  /** Retires the key that should have made the customer. */
  async nextGeneration(accountId: string, generation: number): Promise<void> {
    await this.records.updateOne(
      { _id: accountId, generation, customerId: { $exists: false } },
      { $inc: { generation: 1 } },
    );
  }

  /** The customer was deleted at the provider; the next one gets another id. */
  async unlink({ _id, fence, customerId }: ClaimedAccount): Promise<void> {
    await this.records.updateOne(
      { _id, fence, customerId },
      { $unset: { customerId: '', checkout: '', blockCheckout: '' }, $inc: { generation: 1 } },
    );
  }

  /** Durable when it resolves. @returns false when no account has this customer. */
  want(customerId: string, cause: string): Promise<boolean> {
    return this.#want({ customerId }, cause);
  }

  /** @returns false when the account is no customer. */
  wantAccount(accountId: string, cause: string): Promise<boolean> {
    return this.#want({ _id: accountId, customerId: { $exists: true } }, cause);
  }

  /** Raises `wanted` before it reads the claim: a holder that ends its claim in between has seen the new value. */
  async #want(whom: mongo.Filter<BillingAccount>, cause: string): Promise<boolean> {
    const known = await this.records.updateOne(whom, { $inc: { wanted: 1 }, $set: { cause } });
    const now = this.clock.now();
    const free = { ...whom, claimedUntil: { $not: { $gt: now } } };
    if (known) await this.records.updateOne(free, { $set: { dueAt: now } });
    return known;
  }

  /** One check could not read everything: the next follows at once, unless the account is due anyway. */
  async carryOn({ _id, fence, wanted }: ClaimedAccount): Promise<void> {
    await this.records.updateOne(
      { _id, fence, wanted },
      { $inc: { wanted: 1 }, $set: { cause: CARRIED_ON } },
    );
  }

  /** Claims an account as it was read, due or not. @returns undefined when it is claimed, or has no customer. */
  async claimCustomer(seen: BillingAccount): Promise<ClaimedAccount | undefined> {
    if (seen.claimedUntil !== undefined && seen.claimedUntil > this.clock.now()) return undefined;
    const claimed = await this.claim(seen, { $set: { claimedUntil: this.leaseEnd() } });
    if (claimed === undefined) return undefined;
    const { customerId } = claimed;
    if (customerId !== undefined) return { ...claimed, customerId };
    await this.finish(claimed, FREE);
    return undefined;
  }

  override async renew(claimed: BillingAccount): Promise<BillingAccount | undefined> {
    return super.renew(claimed, { $set: { claimedUntil: this.leaseEnd() } });
  }

  /** Ends the claim and leaves the account due, for the next check. */
  async leave(claimed: ClaimedAccount): Promise<void> {
    await this.postpone(claimed, this.clock.now(), FREE);
  }

  /** Stores the state that will be noted. @returns false when another process has claimed the account since. */
  announce({ _id, fence }: ClaimedAccount, coming: SubscriptionState): Promise<boolean> {
    return this.records.updateOne({ _id, fence }, { $set: { coming } });
  }

  /** Ends the claim. @returns false, with nothing written, when another process has claimed the account since. */
  async note(claimed: ClaimedAccount, state: SubscriptionState): Promise<boolean> {
    const { wanted } = claimed;
    const update = {
      $set: { state, noted: wanted, failures: 0 },
      $unset: { claimedUntil: '', coming: '' },
    } as const;
    return (
      (await this.endClaim(claimed, state.checkAgainAt ?? undefined, update, { wanted })) ||
      // An event has come meanwhile: check once more.
      this.postpone(claimed, this.clock.now(), update)
    );
  }

  override retryLater(claimed: BillingAccount): Promise<boolean> {
    return super.retryLater(claimed, FREE);
  }

  /** Notes that a page is about to be made. @returns false when another one was noted since the account was read. */
  notePage<K extends keyof OpenPages>(
    account: BillingAccount,
    kind: K,
    page: OpenPages[K],
  ): Promise<boolean> {
    const before = account[kind];
    const unchanged = before === undefined ? { [kind]: { $exists: false } } : { [`${kind}.key`]: before.key };
    return this.records.updateOne({ _id: account._id, ...unchanged }, { $set: { [kind]: page } });
  }

  /** Saves the page that was made for a note. */
  async keepPage<K extends keyof OpenPages>(accountId: string, kind: K, page: OpenPages[K]): Promise<void> {
    await this.records.updateOne({ _id: accountId, [`${kind}.key`]: page.key }, { $set: { [kind]: page } });
  }

  async forgetPage(accountId: string, kind: keyof OpenPages, key: string): Promise<void> {
    await this.records.updateOne({ _id: accountId, [`${kind}.key`]: key }, { $unset: { [kind]: '' } });
  }

  async keepPreview(accountId: string, preview: NonNullable<BillingAccount['preview']>): Promise<void> {
    await this.records.updateOne({ _id: accountId }, { $set: { preview } });
  }

  /** Stores the call that is to be made. @returns the stored one if the same call is under way or was lost. */
  async beginOperation(accountId: string, operation: Omit<Operation, 'at'>): Promise<Operation> {
    const at = this.clock.now();
    const begun: Operation = { ...operation, at };
    const fresh = new Date(at.getTime() - KEY_MS);
    const known = await this.records.findById(accountId, { operation: 1 });
    const { name } = operation;
    if (known?.operation?.name === name && known.operation.at > fresh) return known.operation;
    const unchanged =
      known?.operation === undefined
        ? { operation: { $exists: false } }
        : { 'operation.key': known.operation.key };
    const done = await this.records.updateOne(
      { _id: accountId, ...unchanged },
      { $set: { operation: begun } },
    );
    return done ? begun : this.beginOperation(accountId, operation);
  }

  async endOperation(accountId: string, key: string): Promise<void> {
    await this.records.updateOne({ _id: accountId, 'operation.key': key }, { $unset: { operation: '' } });
  }

  /** Accounts whose schedule was half-made at the last check, and was made before that time. */
  halfMade(before: Date, limit: number): Promise<BillingAccount[]> {
    const field = 'state.halfMadeSince';
    return this.records.find({ [field]: { $lte: before } }, { sort: { [field]: 1 }, limit });
  }

  /** Accounts that are customers, after one account in the order of their ids; for the reconciler. */
  after(accountId: string, limit: number): Promise<BillingAccount[]> {
    return this.records.find({ _id: { $gt: accountId } }, { sort: { _id: 1 }, limit });
  }
}
