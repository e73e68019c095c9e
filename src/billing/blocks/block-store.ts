import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';

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
export type BlockState = (typeof BLOCK_STATES)[number];
const BLOCK_STATES = [
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
] as const;
/** States that only a refund or a dispute, or nothing, leads out of. */
const SETTLED: readonly BlockState[] = ['granted', 'frozen', 'reversed', 'failed'];
/** States of blocks that are being bought, or whose payment is in dispute. */
const UNSETTLED = BLOCK_STATES.filter((state) => state === 'frozen' || !SETTLED.includes(state));

/** PDFs bought beyond the quota. Amounts are US cents. */
export interface Block extends Due {
  readonly accountId: string;
  /** `auto`: decided in the account's ledger; `by-hand`: paid on a hosted page. */
  readonly kind: 'auto' | 'by-hand';
  readonly units: number;
  readonly priceCents: number;
  readonly state: BlockState;
  /** How often Stripe has failed at a step: part of the idempotency keys of the next calls. */
  readonly attempts: number;
  readonly invoiceId?: string;
  /** The payment that proves the purchase. */
  readonly intentId?: string;
  /** The hosted page of a block bought by hand. */
  readonly sessionId?: string;
  readonly url?: string;
  readonly expiresAt?: Date;
  /** The time since when the bank has waited for the customer. */
  readonly waitsSince?: Date;
  /** When a granted block's unused units expire. Absent once that is done. */
  readonly endsAt?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type NewBlock = Pick<Block, '_id' | 'accountId' | 'kind' | 'units' | 'priceCents'>;
type Changes = Partial<Omit<Block, keyof NewBlock | keyof Due | 'createdAt' | 'updatedAt'>>;

const BLOCKS: CollectionSpec = {
  name: 'billing_blocks',
  account: 'accountId',
  indexes: [
    DUE_INDEX,
    { fields: { endsAt: 1 }, sparse: true },
    { fields: { accountId: 1, createdAt: 1 } },
    { fields: { state: 1 } },
  ],
  filtersBy: { fields: ['state', 'kind'], reason: 'blocks of one account, or being bought: a few' },
};

/** In milliseconds. An older block can be neither used nor refunded nor disputed any more. */
export const REVERSIBLE_MS = 200 * 24 * 3_600_000;

/** Owns the blocks. */
export class BlockStore extends DueQueue<Block> {
  constructor(connection: Connection, clock: Clock, random: () => number = Math.random) {
    super(new Collection(connection, BLOCKS), clock, { random });
  }

  /** Durable when it resolves. A block that exists stays as it is. */
  async add(block: NewBlock): Promise<void> {
    const now = this.clock.now();
    await this.records.insertIfAbsent({
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

  /** Stores the page of a block bought by hand, which is due when the page expires or the account has an event. */
  async keepPage(id: string, page: { readonly id: string; readonly url: string; readonly expiresAt: Date }) {
    const { id: sessionId, url, expiresAt } = page;
    await this.records.updateOne({ _id: id }, { $set: { sessionId, url, expiresAt, dueAt: expiresAt } });
  }

  /** @returns the block as it is now; undefined when another process has claimed it since. */
  change({ _id, fence }: Block, changes: Changes): Promise<Block | undefined> {
    const $set = { ...changes, updatedAt: this.clock.now() };
    return this.records.findOneAndUpdate({ _id, fence }, { $set });
  }

  /** Ends a claim: the block is not due any more, or is due at `until`. */
  async leave(block: Block, until?: Date): Promise<void> {
    const update = { $set: { failures: 0 } };
    if (until === undefined || SETTLED.includes(block.state)) await this.finish(block, update);
    else await this.postpone(block, until, update);
  }

  /** @returns at most `limit` granted blocks that have expired. */
  expired(limit: number): Promise<Block[]> {
    return this.records.find({ endsAt: { $lte: this.clock.now() } }, { sort: { endsAt: 1 }, limit });
  }

  /** The block's unused units have been taken out of use. */
  async noteExpired(id: string): Promise<void> {
    await this.records.updateOne({ _id: id }, { $unset: { endsAt: '' } });
  }

  /** An event about the account's payments has come: its blocks that wait for one are due now. */
  async wake(accountId: string): Promise<void> {
    const waiting: BlockState[] = ['reserved', 'action_required'];
    await this.records.updateMany(
      { accountId, state: { $in: waiting } },
      { $set: { dueAt: this.clock.now() } },
    );
  }

  /** Some of the blocks that are being bought, or whose payment is in dispute; and those alone. */
  unsettled(limit: number): Promise<Block[]> {
    return this.records.find({ state: { $in: UNSETTLED } }, { limit });
  }

  /** Whether a block of the account is being bought, or its payment is in dispute. */
  async hasUnsettled(accountId: string): Promise<boolean> {
    return (await this.records.findOne({ accountId, state: { $in: UNSETTLED } })) !== undefined;
  }

  /** Continues a purchase now that waits. @returns undefined when there is none of this id. */
  retry(id: string): Promise<Block | undefined> {
    return this.hasten(id, {}, { state: { $nin: [...SETTLED] } });
  }

  /** Blocks whose payment may still be taken back, or come back after all. */
  paidOf(accountId: string): Promise<Block[]> {
    const since = new Date(this.clock.now().getTime() - REVERSIBLE_MS);
    const states: BlockState[] = ['granted', 'frozen', 'reversed'];
    return this.records.find({ accountId, createdAt: { $gt: since }, state: { $in: states } });
  }

  /** Notes a refund or a dispute. @returns false when the block has left the state `from`. */
  move(id: string, from: BlockState, to: BlockState): Promise<boolean> {
    return this.records.updateOne(
      { _id: id, state: from },
      { $set: { state: to, updatedAt: this.clock.now() } },
    );
  }

  /**
   * How many blocks there are, by state. A reserved block on a hosted page counts as `on_page`: the page may be open
   * for a day, while an automatic purchase is reserved for moments.
   */
  async counts(): Promise<Readonly<Record<BlockState | 'on_page', number>>> {
    const others = BLOCK_STATES.filter((state) => state !== 'reserved');
    const counted = await Promise.all([
      ...others.map(async (state) => [state, await this.records.count({ state })] as const),
      this.#countReserved('auto').then((count) => ['reserved', count] as const),
      this.#countReserved('by-hand').then((count) => ['on_page', count] as const),
    ]);
    return Object.fromEntries(counted) as Record<BlockState | 'on_page', number>;
  }

  #countReserved(kind: Block['kind']): Promise<number> {
    return this.records.count({ state: 'reserved', kind });
  }
}
