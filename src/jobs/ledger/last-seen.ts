import { LRUCache } from 'lru-cache';
import type { LedgerRecord, SeenLedger } from './ledger-record.ts';

/** The fields of a record that are remembered: what changes return. */
export const SEEN = { revision: 1, inFlight: 1, waiting: 1, lanes: 1, arriving: 1, stored: 1 } as const;
/** Accounts whose ledger is remembered as it was last seen. */
const REMEMBERED_ACCOUNTS = 10_000;
/** For how long what was seen counts as what is there now, where that need not be exact. */
const LATELY_MS = 1000;

/** Ledgers as this process has seen them last; others may have changed them since. */
export class LastSeen {
  readonly #seen = new LRUCache<string, SeenLedger>({ max: REMEMBERED_ACCOUNTS });
  readonly #stored = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS, ttl: LATELY_MS });

  get(accountId: string): SeenLedger | undefined {
    return this.#seen.get(accountId);
  }

  /** Bytes that an account kept a moment ago; undefined when its ledger has not been seen since. */
  storedLately(accountId: string): number | undefined {
    return this.#stored.get(accountId);
  }

  forget(accountId: string): void {
    this.#seen.delete(accountId);
    this.#stored.delete(accountId);
  }

  /** Responses may come in another order than that of the changes. */
  remember(record: (SeenLedger & Pick<LedgerRecord, 'stored'>) | undefined): void {
    if (record === undefined) return;
    const { _id, revision, inFlight, waiting, lanes, arriving, stored = 0 } = record;
    if ((this.#seen.get(_id)?.revision ?? 0) > revision) return;
    this.#stored.set(_id, stored);
    this.#seen.set(_id, {
      _id,
      revision,
      inFlight,
      waiting,
      ...(lanes && { lanes }),
      ...(arriving && { arriving }),
    });
  }
}
