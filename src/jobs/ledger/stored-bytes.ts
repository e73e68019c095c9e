import type { Connection } from 'mongoose';
import { Collection } from '../../store/collection.ts';
import { fields, isBeyond, type StoredLimit, withinStored } from './ledger-filter.ts';
import { LEDGERS, type LedgerRecord } from './ledger-record.ts';

/**
 * What accounts keep, in bytes: one number in the ledger of each. Jobs change it in the same updates that let them in and
 * end them (ledger.ts); here is what changes it besides, and what puts it right.
 */
export class StoredBytes {
  readonly #records: Collection<LedgerRecord>;

  constructor(connection: Connection) {
    this.#records = new Collection<LedgerRecord>(connection, LEDGERS);
  }

  /** Bytes that an account keeps. */
  async of(accountId: string): Promise<number> {
    return (await this.#records.findById(accountId, { stored: 1 }))?.stored ?? 0;
  }

  /** Takes room for something that is not a job's. @returns false when there is not enough. */
  async take(accountId: string, stored: StoredLimit): Promise<boolean> {
    if (isBeyond(0, undefined, stored)) return false;
    const filter = { _id: accountId, ...withinStored(stored) };
    const update = {
      $inc: { stored: stored.bytes, revision: 1 },
      $setOnInsert: { inFlight: 0, waiting: 0 },
    };
    return (await this.#records.upsertMatching(filter, update, { revision: 1 })) !== undefined;
  }

  /** Something of an account is kept no more. */
  async giveBack(accountId: string, bytes: number): Promise<void> {
    await this.#records.updateOne({ _id: accountId }, { $inc: { stored: -bytes, revision: 1 } });
  }

  /**
   * Records are kept no more.
   *
   * @param deleted how many of them this process has deleted. Where another was at it as well, nothing is given back twice:
   *   what is kept is then counted anew.
   */
  async giveBackAll<R extends { readonly accountId: string }>(
    records: readonly R[],
    deleted: number,
    bytesOf: (record: R) => number,
  ): Promise<void> {
    for (const [accountId, own] of Map.groupBy(records, (record) => record.accountId)) {
      const bytes = deleted === records.length ? own.reduce((sum, record) => sum + bytesOf(record), 0) : 0;
      await this.giveBack(accountId, bytes);
    }
  }

  /** The ledgers of some accounts, in the order of their ids. */
  after(accountId: string, limit: number): Promise<LedgerRecord[]> {
    return this.#records.find({ _id: { $gt: accountId } }, { sort: { _id: 1 }, limit });
  }

  /**
   * Puts right what an account keeps, by what is really there, and forgets quotas of the past.
   *
   * @returns whether the record was still as seen.
   */
  set({ _id, revision }: LedgerRecord, stored: number, past: readonly string[]): Promise<boolean> {
    const unset = fields('quota', past, '' as const);
    return this.#records.updateOne(
      { _id, revision },
      { $set: { stored, recounted: revision }, ...(past.length > 0 && { $unset: unset }) },
    );
  }
}
