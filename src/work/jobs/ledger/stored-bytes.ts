import type { Collection } from '../../../infra/store/collection.ts';
import { fields, isBeyond, type StoredLimit, withinStored } from './ledger-filter.ts';
import type { LedgerRecord } from './ledger-record.ts';

/**
 * The bytes that accounts store: one number in the ledger of each account. Jobs change it in the updates of their
 * admission and end (ledger.ts); this class has all other changes, and the correction.
 */
export class StoredBytes {
  readonly #records: Collection<LedgerRecord>;

  constructor(records: Collection<LedgerRecord>) {
    this.#records = records;
  }

  /** Bytes that an account stores. */
  async of(accountId: string): Promise<number> {
    return (await this.#records.findById(accountId, { stored: 1 }))?.stored ?? 0;
  }

  /** Takes storage for a record that is not a job's. @returns false when there is not enough. */
  async take(accountId: string, stored: StoredLimit): Promise<boolean> {
    if (isBeyond(0, undefined, stored)) return false;
    const filter = { _id: accountId, ...withinStored(stored) };
    const update = {
      $inc: { stored: stored.bytes, revision: 1 },
      $setOnInsert: { inFlight: 0, waiting: 0 },
    };
    return (await this.#records.upsertMatching(filter, update, { revision: 1 })) !== undefined;
  }

  /** Gives back the storage of a deleted record. */
  async giveBack(accountId: string, bytes: number): Promise<void> {
    await this.#records.updateOne({ _id: accountId }, { $inc: { stored: -bytes, revision: 1 } });
  }

  /**
   * Gives back the storage of deleted records, by one statement for all accounts.
   *
   * @param deleted how many of them this process has deleted. If another process has deleted some, nothing is given
   * back, so that nothing is given back twice; the recount corrects the number.
   */
  async giveBackAll<R extends { readonly accountId: string }>(
    records: readonly R[],
    deleted: number,
    bytesOf: (record: R) => number,
  ): Promise<void> {
    const owners = Map.groupBy(records, (record) => record.accountId);
    await this.#records.updateAll(
      [...owners].map(([id, own]) => {
        const bytes = deleted === records.length ? own.reduce((sum, record) => sum + bytesOf(record), 0) : 0;
        return { id, update: { $inc: { stored: -bytes, revision: 1 } } };
      }),
    );
  }

  /** The ledgers of some accounts, sorted by id. */
  after(accountId: string, limit: number): Promise<LedgerRecord[]> {
    return this.#records.find({ _id: { $gt: accountId } }, { sort: { _id: 1 }, limit });
  }

  /** Sets what a recount found, and deletes past quotas. @returns false when the record has changed since. */
  set({ _id, revision }: LedgerRecord, stored: number, past: readonly string[]): Promise<boolean> {
    const unset = fields('quota', past, '' as const);
    return this.#records.updateOne(
      { _id, revision },
      { $set: { stored, recounted: revision }, ...(past.length > 0 && { $unset: unset }) },
    );
  }
}
