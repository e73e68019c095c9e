import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import type { Collection, Update } from '../../../infra/store/collection.ts';
import type { UnrecordedChange } from '../../../tenants/audit/audit-log.ts';
import type { DisabledBecause } from '../../../tenants/mail/mail.ts';
import type { Period } from '../../../tenants/plans/quota-period.ts';
import {
  type BlockBalance,
  countedFor,
  expiredOf,
  limitWith,
  type Standing,
  standsAlike,
  withStanding,
} from '../ledger/block-balance.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import type { Overage } from '../ledger/overage.ts';
import { autoOverage, type Causes, expired, granted, moved } from './block-changes.ts';

export type AutoOverageSettings = Pick<Overage, 'enabled' | 'units' | 'priceCents' | 'capCents' | 'cycle'>;

type Filter = mongo.Filter<LedgerRecord>;
type Change = Update<LedgerRecord>;

/** How often a decision is repeated when other processes have changed its basis meanwhile. */
const TRIES = 50;
const LIMIT = 1000;

/**
 * The blocks of accounts and their purchases. They are part of the account's ledger, together with the use of the quota: so one
 * update of one record decides whether the quota suffices and whether to buy. The same update writes the entry for the
 * audit log.
 */
export class BlockLedger {
  readonly #records: Collection<LedgerRecord>;
  readonly #clock: Clock;

  constructor(records: Collection<LedgerRecord>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  find(accountId: string): Promise<LedgerRecord | undefined> {
    return this.#records.findById(accountId);
  }

  /** Records with a purchase under way, the oldest first. */
  beingBought(): Promise<LedgerRecord[]> {
    return this.#records.find(
      { 'overage.purchase.at': { $gt: 0 } },
      { sort: { 'overage.purchase.at': 1 }, limit: LIMIT },
    );
  }

  /** Records with changes that are not in the audit log yet, the oldest first. */
  unrecorded(limit: number): Promise<LedgerRecord[]> {
    return this.#records.find(
      { 'unrecorded.at': { $gt: new Date(0) } },
      { projection: { unrecorded: 1 }, sort: { 'unrecorded.at': 1 }, limit },
    );
  }

  /** A change is in the audit log. The revision stays, because nothing that depends on it has changed. */
  async forgetRecorded(accountId: string, changeId: string): Promise<void> {
    await this.#records.updateOne({ _id: accountId }, { $pull: { unrecorded: { id: changeId } } });
  }

  /** The account's ledger, with its blocks counted for this period and quota; undefined without a ledger. */
  counted(accountId: string, period: Period, quota: number): Promise<LedgerRecord | undefined> {
    return this.#decide(accountId, async () => {
      const record = await this.find(accountId);
      const blockBalance = record?.blockBalance;
      if (blockBalance === undefined || (blockBalance.period === period && blockBalance.quota === quota))
        return record;
      await this.#replace(record, countedFor(blockBalance, record?.quota, { period, quota }, this.#now()));
      return 'changed';
    });
  }

  /** PDFs that may still be made in a period with all blocks; at least 0. */
  async left(accountId: string, period: Period, quota: number): Promise<number> {
    const record = await this.counted(accountId, period, quota);
    const used = record?.quota?.[period] ?? 0;
    return Math.max(0, limitWith(record, period, quota, this.#clock.now()) - used);
  }

  /**
   * Decides to buy: only one purchase at a time, within the cap, and only while the rest of the quota is too small.
   *
   * @param need.limit the PDFs that may be used with all blocks, by the record that was read.
   * @returns false when one of these conditions does not hold any more.
   */
  reserve(
    { _id, overage, blockBalance }: LedgerRecord,
    blockId: string,
    need: { readonly period: Period; readonly limit: number; readonly count: number },
  ): Promise<boolean> {
    if (overage === undefined) return Promise.resolve(false);
    const { units, priceCents, capCents, cycle } = overage;
    const at = this.#now();
    const unused = need.limit - need.count;
    return this.#change(
      {
        _id,
        'overage.enabled': true,
        'overage.allowed': true,
        'overage.purchase': { $exists: false },
        'overage.units': units,
        'overage.priceCents': priceCents,
        'overage.capCents': capCents,
        'overage.cycle': cycle,
        'overage.spentCents': { $lte: capCents - priceCents },
        'blockBalance.version': blockBalance === undefined ? { $exists: false } : blockBalance.version,
        // An unused period has no number yet. With a negative bound any number will do.
        ...(unused >= 0 && { [`quota.${need.period}`]: { $gt: unused } }),
      },
      {
        $set: { 'overage.purchase': { blockId, units, priceCents, cycle, at } },
        $inc: { 'overage.spentCents': priceCents },
      },
    );
  }

  /** Adds a paid block's units, once, and allows the next purchase. @param until their expiry, epoch milliseconds. */
  async grant(
    accountId: string,
    blockId: string,
    units: number,
    until: number,
    counting: { readonly period: Period; readonly quota: number },
  ): Promise<void> {
    const made = { $setOnInsert: { inFlight: 0, waiting: 0, revision: 0 } };
    const at = this.#clock.now();
    await this.#records.upsert(accountId, made);
    await this.#decide(accountId, async () => {
      const record = await this.counted(accountId, counting.period, counting.quota);
      const held = record?.overage?.purchase?.blockId === blockId;
      if (record?.blockBalance?.blocks[blockId] !== undefined) {
        if (held) await this.#endPurchase(accountId, blockId, {});
        return true;
      }
      const none: BlockBalance = { ...counting, version: 0, blocks: {} };
      const blockBalance = record?.blockBalance ?? countedFor(none, record?.quota, counting, this.#now());
      const next = {
        ...blockBalance,
        version: blockBalance.version + 1,
        blocks: { ...blockBalance.blocks, [blockId]: { left: units, until } },
      };
      const change = held ? { $unset: { 'overage.purchase': '' as const } } : {};
      const purchase = { 'overage.purchase.blockId': held ? blockId : { $ne: blockId } };
      const cause = held ? 'auto overage' : 'bought by hand';
      const changes = [granted(blockId, { units, until, cause }, at)];
      return (await this.#replace(record, next, changes, change, purchase)) || 'changed';
    });
  }

  /** A purchase has failed: its price no longer counts against the cap. */
  async release(accountId: string, blockId: string): Promise<void> {
    const purchase = (await this.find(accountId))?.overage?.purchase;
    if (purchase?.blockId !== blockId) return;
    const back = { $inc: { 'overage.spentCents': -purchase.priceCents } };
    if (await this.#endPurchase(accountId, blockId, back, { 'overage.cycle': purchase.cycle })) return;
    // A new period has begun since, against whose cap the purchase does not count.
    await this.#endPurchase(accountId, blockId, {});
  }

  /**
   * Takes a block or a part of it out of use, or returns it with the units that were left.
   *
   * @param causes for the audit log.
   * @returns false when the block was in this state already.
   */
  withdraw(accountId: string, blockId: string, standing: Standing, causes: Causes): Promise<boolean> {
    return this.#decide(accountId, async () => {
      const record = await this.find(accountId);
      const blockBalance = record?.blockBalance;
      const block = blockBalance?.blocks[blockId];
      if (blockBalance === undefined || block === undefined) return false;
      const { period, quota } = blockBalance;
      const now = countedFor(blockBalance, record?.quota, { period, quota }, this.#now());
      const before = now.blocks[blockId] ?? { ...block, left: 0 };
      const after = withStanding(before, standing);
      if (standsAlike(before, after)) return false;
      const next = { ...now, blocks: { ...now.blocks, [blockId]: after } };
      const change = { before, after, version: next.version, causes };
      return (await this.#replace(record, next, moved(blockId, change, this.#clock.now()))) || 'changed';
    });
  }

  /** Removes the remaining units of expired blocks. Repeating it changes nothing. */
  async expire(accountId: string): Promise<void> {
    await this.#decide(accountId, async () => {
      const record = await this.find(accountId);
      const blockBalance = record?.blockBalance;
      if (blockBalance === undefined || expiredOf(blockBalance, record?.quota, this.#now()).size === 0)
        return true;
      const next = countedFor(blockBalance, record?.quota, blockBalance, this.#now());
      return (await this.#replace(record, next)) || 'changed';
    });
  }

  /** Saves the owner's settings for automatic purchases. */
  async set(accountId: string, settings: AutoOverageSettings): Promise<void> {
    const { enabled, units, priceCents, capCents, cycle } = settings;
    await this.#records.upsert(accountId, {
      $set: {
        'overage.enabled': enabled,
        'overage.units': units,
        'overage.priceCents': priceCents,
        'overage.capCents': capCents,
        'overage.allowed': true,
      },
      // The owner has just changed the setting, so no notification is needed.
      $unset: { 'overage.untold': '' },
      $inc: { revision: 1, 'overage.spentCents': 0 },
      $setOnInsert: { inFlight: 0, waiting: 0 },
    });
    const first = { _id: accountId, 'overage.cycle': { $exists: false } };
    await this.#change(first, { $set: { 'overage.cycle': cycle } });
    await this.begin(accountId, cycle);
  }

  /**
   * @param failed the block whose purchase has failed; the mail about the failure notifies the owner. Without it, the
   * owner has to be notified.
   * @returns false when it was off already.
   */
  disable(accountId: string, because: DisabledBecause, failed?: string): Promise<boolean> {
    const at = this.#clock.now();
    const change = autoOverage(failed ?? randomUUID(), false, because, at);
    return this.#change(
      { _id: accountId, 'overage.enabled': true },
      {
        $set: {
          'overage.enabled': false,
          ...(failed === undefined && { 'overage.untold': { because, at: at.getTime() } }),
        },
        $push: { unrecorded: change },
      },
    );
  }

  /** The owner has been notified that auto overage was turned off at this time. */
  async reported(accountId: string, at: number): Promise<void> {
    const untold = { _id: accountId, 'overage.untold.at': at };
    await this.#change(untold, { $unset: { 'overage.untold': '' } });
  }

  /** Records whether the subscription allows automatic purchases. */
  async allow(accountId: string, allowed: boolean): Promise<void> {
    const differs = { _id: accountId, 'overage.allowed': !allowed };
    const $set = { 'overage.allowed': allowed };
    const change = autoOverage(randomUUID(), allowed, 'subscription', this.#clock.now());
    const on = { ...differs, 'overage.enabled': true };
    if (await this.#change(on, { $set, $push: { unrecorded: change } })) return;
    await this.#change(differs, { $set });
  }

  /** A billing period has begun, with nothing spent. A repetition, or an earlier period, changes nothing. */
  async begin(accountId: string, cycle: string): Promise<void> {
    const earlier = { _id: accountId, 'overage.cycle': { $lt: cycle } };
    await this.#change(earlier, { $set: { 'overage.cycle': cycle, 'overage.spentCents': 0 } });
  }

  /** Decides by the present record, again when others have changed it meanwhile. @throws after TRIES attempts. */
  async #decide<T>(accountId: string, decide: () => Promise<T | 'changed'>): Promise<T> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const decided = await decide();
      if (decided !== 'changed') return decided;
    }
    throw new Error(`What ${accountId} has bought changes all the time.`);
  }

  #endPurchase(accountId: string, blockId: string, change: Change, where: object = {}): Promise<boolean> {
    const during = { _id: accountId, 'overage.purchase.blockId': blockId, ...where };
    return this.#change(during, { ...change, $unset: { 'overage.purchase': '' } });
  }

  /** Replaces the blocks, if unchanged since they were read, together with audit entries and other changes. */
  #replace(
    seen: LedgerRecord | undefined,
    blockBalance: BlockBalance,
    changes: readonly UnrecordedChange[] = [],
    change: Change = {},
    where: object = {},
  ): Promise<boolean> {
    const before = seen?.blockBalance;
    const unrecorded = [...changes, ...expired(before, seen?.quota, this.#clock.now())];
    const version = before === undefined ? { $exists: false } : before.version;
    return this.#change(
      { _id: seen?._id, 'blockBalance.version': version, ...where },
      {
        ...change,
        $set: { blockBalance },
        ...(unrecorded.length > 0 && { $push: { unrecorded: { $each: unrecorded } } }),
      },
    );
  }

  #change(filter: Filter, change: Change): Promise<boolean> {
    return this.#records.updateOne(filter, { ...change, $inc: { revision: 1, ...change.$inc } });
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
