import type { Connection } from 'mongoose';
import { backoffMs } from '../../async/backoff.ts';
import type { Clock } from '../../clock.ts';
import { Collection, type CollectionSpec } from '../../store/collection.ts';
import { LEASE_MS } from '../leases.ts';

/**
 * Where a block stands.
 *
 *     reserved ──► drafted ──► paying ──► paid ──► granted ⇄ frozen ⇄ reversed ⇄ granted
 *        │                       │ ▲        ▲
 *        │ (by hand)             ▼ │        │
 *        ├──► paid         action_required  │
 *        └──► failed             │          │
 *                                ▼          │
 *                             voiding ──────┴──► failed
 */
export type BlockState =
  | 'reserved'
  | 'drafted'
  | 'paying'
  | 'action_required'
  | 'voiding'
  | 'paid'
  | 'granted'
  | 'frozen'
  | 'reversed'
  | 'failed';

export const BLOCK_STATES: readonly BlockState[] = [
  'reserved',
  'drafted',
  'paying',
  'action_required',
  'voiding',
  'paid',
  'granted',
  'frozen',
  'reversed',
  'failed',
];
/** Nothing happens to these by themselves. */
const AT_REST: readonly BlockState[] = ['granted', 'frozen', 'reversed', 'failed'];

/** PDFs that are bought beyond the quota. Amounts are US cents. */
export interface Block {
  readonly _id: string;
  readonly accountId: string;
  /** `auto` ones were decided by the gate in the account's ledger; the others are paid on a hosted page. */
  readonly kind: 'auto' | 'by-hand';
  readonly units: number;
  readonly priceCents: number;
  readonly state: BlockState;
  /** Raised by everyone who claims it: only the last one may write. */
  readonly fence: number;
  /** When it is to be looked at, or when a claim ends; absent at rest. */
  readonly dueAt?: Date;
  readonly failures: number;
  /** How often Stripe has failed at a step: part of the idempotency keys of the next. */
  readonly attempts: number;
  readonly invoiceId?: string;
  /** The payment that proves it. */
  readonly intentId?: string;
  /** Its hosted page, of one that is bought by hand. */
  readonly sessionId?: string;
  readonly url?: string;
  readonly expiresAt?: Date;
  /** Since when the bank waits for the customer. */
  readonly waitsSince?: Date;
  /** Of one that was granted: what is left of it then is lost. Absent when that has been seen to. */
  readonly endsAt?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type NewBlock = Pick<Block, '_id' | 'accountId' | 'kind' | 'units' | 'priceCents'>;
type Changes = Partial<
  Pick<
    Block,
    | 'state'
    | 'attempts'
    | 'invoiceId'
    | 'intentId'
    | 'sessionId'
    | 'url'
    | 'expiresAt'
    | 'waitsSince'
    | 'endsAt'
  >
>;

const BLOCKS: CollectionSpec = {
  name: 'overage_blocks',
  indexes: [
    { fields: { dueAt: 1 }, sparse: true },
    { fields: { endsAt: 1 }, sparse: true },
    { fields: { accountId: 1, createdAt: 1 } },
    { fields: { state: 1 } },
  ],
  looksAt: { asked: ['state', 'kind'], because: 'blocks of one account, or being bought: a few' },
};

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 300_000;
/** A block that old can be neither used nor refunded nor disputed any more. */
export const LOOKED_AFTER_MS = 200 * 24 * 3_600_000;

/** Owns the blocks. */
export class BlockStore {
  readonly #blocks: Collection<Block>;
  readonly #clock: Clock;
  readonly #random: () => number;

  constructor(connection: Connection, clock: Clock, random: () => number = Math.random) {
    this.#blocks = new Collection(connection, BLOCKS);
    this.#clock = clock;
    this.#random = random;
  }

  find(id: string): Promise<Block | undefined> {
    return this.#blocks.findById(id);
  }

  /** Durable when it resolves. One that is known stays as it is. */
  async add(block: NewBlock): Promise<void> {
    const now = this.#clock.now();
    await this.#blocks.insertIfAbsent({
      ...block,
      state: 'reserved',
      fence: 0,
      failures: 0,
      attempts: 0,
      dueAt: now,
      createdAt: now,
      updatedAt: now,
    });
  }

  /** Of one that is bought by hand; it is looked at when the page is over, or when something is heard of it. */
  async keepPage(id: string, page: { readonly id: string; readonly url: string; readonly expiresAt: Date }) {
    const { id: sessionId, url, expiresAt } = page;
    await this.#blocks.updateOne({ _id: id }, { $set: { sessionId, url, expiresAt, dueAt: expiresAt } });
  }

  due(limit: number): Promise<Block[]> {
    return this.#blocks.find({ dueAt: { $lte: this.#clock.now() } }, { sort: { dueAt: 1 }, limit });
  }

  /** @returns undefined when somebody else was first. */
  claim({ _id, dueAt }: Block): Promise<Block | undefined> {
    if (dueAt === undefined) return Promise.resolve(undefined);
    return this.#blocks.findOneAndUpdate(
      { _id, dueAt },
      { $inc: { fence: 1 }, $set: { dueAt: this.#leaseEnd() } },
    );
  }

  /** Keeps a claim; one that was ended by somebody, or by `wake`, stays ended. */
  async renew({ _id, fence }: Block): Promise<void> {
    await this.#blocks.updateOne(
      { _id, fence, dueAt: { $gt: this.#clock.now() } },
      { $set: { dueAt: this.#leaseEnd() } },
    );
  }

  #leaseEnd(): Date {
    return new Date(this.#clock.now().getTime() + LEASE_MS);
  }

  /** @returns the block as it is now; undefined when somebody else has claimed it since. */
  change({ _id, fence }: Block, changes: Changes): Promise<Block | undefined> {
    const $set = { ...changes, updatedAt: this.#clock.now() };
    return this.#blocks.findOneAndUpdate({ _id, fence }, { $set });
  }

  /** Stripe has answered that it failed. */
  async failedAt({ _id, fence }: Block): Promise<void> {
    await this.#blocks.updateOne({ _id, fence }, { $inc: { attempts: 1 } });
  }

  /** It rests, or waits until then. */
  async leave({ _id, fence, state }: Block, until?: Date): Promise<void> {
    const rests = until === undefined || AT_REST.includes(state);
    const time = rests ? { $unset: { dueAt: '' as const } } : { $set: { dueAt: until } };
    await this.#blocks.updateOne({ _id, fence }, { ...time, $set: { failures: 0, ...time.$set } });
  }

  /** It could not be looked at: later, and later still the more often that happens. */
  async postpone({ _id, fence, failures }: Block): Promise<void> {
    const delay = backoffMs(failures + 1, FIRST_BACKOFF_MS, MAX_BACKOFF_MS, this.#random);
    const dueAt = new Date(this.#clock.now().getTime() + delay);
    await this.#blocks.updateOne({ _id, fence }, { $set: { dueAt }, $inc: { failures: 1 } });
  }

  /** Some of those that were granted and whose time is over. */
  ending(limit: number): Promise<Block[]> {
    return this.#blocks.find({ endsAt: { $lte: this.#clock.now() } }, { sort: { endsAt: 1 }, limit });
  }

  /** What was left of it has been taken out of use. */
  async ended(id: string): Promise<void> {
    await this.#blocks.updateOne({ _id: id }, { $unset: { endsAt: '' } });
  }

  /** Something was heard of the account's payments: those that wait for one are looked at now. */
  async wake(accountId: string): Promise<void> {
    const waiting: BlockState[] = ['reserved', 'action_required'];
    await this.#blocks.updateMany(
      { accountId, state: { $in: waiting } },
      { $set: { dueAt: this.#clock.now() } },
    );
  }

  /** Blocks whose payment may still be taken back, or come back after all. */
  paidOf(accountId: string): Promise<Block[]> {
    const since = new Date(this.#clock.now().getTime() - LOOKED_AFTER_MS);
    const states: BlockState[] = ['granted', 'frozen', 'reversed'];
    return this.#blocks.find({ accountId, createdAt: { $gt: since }, state: { $in: states } });
  }

  /** A refund or a dispute. @returns false when it was not in that state any more. */
  move(id: string, from: BlockState, to: BlockState): Promise<boolean> {
    return this.#blocks.updateOne(
      { _id: id, state: from },
      { $set: { state: to, updatedAt: this.#clock.now() } },
    );
  }

  /**
   * How many blocks there are, by state. Of those that are reserved, the ones on a hosted page count as `on_page`: it may be
   * open for a day, and what is bought by itself is reserved for moments.
   */
  async counts(): Promise<Readonly<Record<BlockState | 'on_page', number>>> {
    const others = BLOCK_STATES.filter((state) => state !== 'reserved');
    const counted = await Promise.all([
      ...others.map(async (state) => [state, await this.#blocks.count({ state })] as const),
      this.#countReserved('auto').then((count) => ['reserved', count] as const),
      this.#countReserved('by-hand').then((count) => ['on_page', count] as const),
    ]);
    return Object.fromEntries(counted) as Record<BlockState | 'on_page', number>;
  }

  #countReserved(kind: Block['kind']): Promise<number> {
    return this.#blocks.count({ state: 'reserved', kind });
  }
}
