import type { Connection } from 'mongoose';
import type { AuditLog } from '../../audit/audit-log.ts';
import { Collection } from '../../store/collection.ts';
import { LEDGERS, type LedgerRecord } from './ledger-record.ts';

const AT_ONCE = 100;

/** Brings what billing has changed in ledgers into the audit log: each change is noted in the ledger until it is there. */
export class UnrecordedChanges {
  readonly #records: Collection<LedgerRecord>;
  readonly #audit: Pick<AuditLog, 'recordOnce'>;

  constructor(connection: Connection, audit: Pick<AuditLog, 'recordOnce'>) {
    this.#records = new Collection<LedgerRecord>(connection, LEDGERS);
    this.#audit = audit;
  }

  /** Those of one account. @throws when the audit log cannot be written; they stay then. */
  async record(accountId: string): Promise<void> {
    const ledger = await this.#records.findById(accountId, { unrecorded: 1 });
    if (ledger !== undefined) await this.#record(ledger);
  }

  /** Those of all accounts, the oldest first. @returns how many accounts had any. */
  async sweep(): Promise<number> {
    const ledgers = await this.#records.find(
      { 'unrecorded.at': { $gt: new Date(0) } },
      { projection: { unrecorded: 1 }, sort: { 'unrecorded.at': 1 }, limit: AT_ONCE },
    );
    for (const ledger of ledgers) await this.#record(ledger);
    return ledgers.length;
  }

  async #record({ _id, unrecorded = [] }: Pick<LedgerRecord, '_id' | 'unrecorded'>): Promise<void> {
    for (const change of unrecorded) {
      await this.#audit.recordOnce(_id, change);
      // The revision stays: nothing of what it stands for has changed.
      await this.#records.updateOne({ _id }, { $pull: { unrecorded: { id: change.id } } });
    }
  }
}
