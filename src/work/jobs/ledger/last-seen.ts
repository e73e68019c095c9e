import { LRUCache } from 'lru-cache';
import type { LedgerRecord, SeenLedger } from './ledger-record.ts';

/** The fields of a record that are remembered, which every change returns. */
export const SEEN = { revision: 1, inFlight: 1, waiting: 1, queues: 1, pending: 1, stored: 1 } as const;
/** Accounts whose last known ledger is remembered. */
const REMEMBERED_ACCOUNTS = 10_000;
/** How long a remembered value counts as the present one where it need not be exact, in milliseconds. */
const LATELY_MS = 1000;

/** The last known ledgers of this process; other processes may have changed them since. */
export class LastSeen {
  readonly #seen = new LRUCache<string, SeenLedger>({ max: REMEMBERED_ACCOUNTS });
  readonly #stored = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS, ttl: LATELY_MS });

  get(accountId: string): SeenLedger | undefined {
    return this.#seen.get(accountId);
  }

  /** The bytes that an account stored a moment ago; undefined when its ledger has not been read since. */
  storedLately(accountId: string): number | undefined {
    return this.#stored.get(accountId);
  }

  forget(accountId: string): void {
    this.#seen.delete(accountId);
    this.#stored.delete(accountId);
  }

  /** Responses may arrive in another order than that of the changes. */
  remember(record: (SeenLedger & Pick<LedgerRecord, 'stored'>) | undefined): void {
    if (record === undefined) return;
    const { _id, revision, inFlight, waiting, queues, pending, stored = 0 } = record;
    if ((this.#seen.get(_id)?.revision ?? 0) > revision) return;
    this.#stored.set(_id, stored);
    this.#seen.set(_id, {
      _id,
      revision,
      inFlight,
      waiting,
      ...(queues && { queues }),
      ...(pending && { pending }),
    });
  }
}
