import type { Collection } from '../../../infra/store/collection.ts';
import type { LedgerLoad, LedgerRecord } from './ledger-record.ts';

const FIELDS = { inFlight: 1, waiting: 1, queues: 1, changedAt: 1 } as const;

/** Reads what decides the demand of accounts. */
export class LedgerLoads {
  readonly #records: Collection<LedgerRecord>;
  readonly #projection: Readonly<Record<string, 1>>;

  /** @param options `holders`: whether to read the names of the jobs that hold slots. */
  constructor(records: Collection<LedgerRecord>, { holders = false } = {}) {
    this.#records = records;
    this.#projection = holders ? { ...FIELDS, holders: 1 } : FIELDS;
  }

  /** Of all accounts with live jobs. */
  active(visit: (load: LedgerLoad) => void): Promise<void> {
    return this.#records.each({ active: true }, { projection: this.#projection }, visit);
  }

  /** Of the accounts whose slots or waiting jobs have changed after this time of the database. */
  changedAfter(time: Date, visit: (load: LedgerLoad) => void): Promise<void> {
    return this.#records.each({ changedAt: { $gt: time } }, { projection: this.#projection }, visit);
  }
}
