import type { AuditLog } from '../../../tenants/audit/audit-log.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import type { BlockLedger } from './block-ledger.ts';

const AT_ONCE = 100;

/** Copies changes by billing from the ledgers to the audit log; each stays in its ledger until it is there. */
export class UnrecordedChanges {
  readonly #blockLedger: BlockLedger;
  readonly #audit: Pick<AuditLog, 'recordOnce'>;

  constructor(blockLedger: BlockLedger, audit: Pick<AuditLog, 'recordOnce'>) {
    this.#blockLedger = blockLedger;
    this.#audit = audit;
  }

  /** Copies one account's changes. @throws when the audit log cannot be written; the ledger keeps them then. */
  async record(accountId: string): Promise<void> {
    const ledger = await this.#blockLedger.find(accountId);
    if (ledger !== undefined) await this.#record(ledger);
  }

  /** Copies the changes of all accounts, the oldest first. @returns the number of accounts with changes. */
  async sweep(): Promise<number> {
    const ledgers = await this.#blockLedger.unrecorded(AT_ONCE);
    for (const ledger of ledgers) await this.#record(ledger);
    return ledgers.length;
  }

  async #record({ _id, unrecorded = [] }: Pick<LedgerRecord, '_id' | 'unrecorded'>): Promise<void> {
    for (const change of unrecorded) {
      await this.#audit.recordOnce(_id, change);
      await this.#blockLedger.forgetRecorded(_id, change.id);
    }
  }
}
