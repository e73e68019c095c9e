import { LRUCache } from 'lru-cache';
import type { Period } from '../../../tenants/plans/quota-period.ts';
import { type LedgerRecord, noneIsPending, queuesAreEmpty, type SeenLedger } from './ledger-record.ts';

/** The fields of a record that are remembered, which every change returns. */
export const SEEN = { revision: 1, inFlight: 1, waiting: 1, queues: 1, pending: 1, stored: 1 } as const;
/** The same and the names of jobs that are ending. */
export const NAMED = { ...SEEN, ending: 1, finalising: 1 } as const;
/** Accounts whose last known ledger is remembered. */
const REMEMBERED_ACCOUNTS = 10_000;
/** How long a remembered value counts as the present one where it need not be exact, in milliseconds. */
const LATELY_MS = 1000;

/** A ledger as it was last seen, with the names of the jobs that were ending if it named no others. */
interface Remembered {
  readonly ledger: SeenLedger;
  readonly onlyEnding?: readonly string[];
}

/** The last known ledgers of this process; other processes may have changed them since. */
export class LastSeen {
  readonly #seen = new LRUCache<string, Remembered>({ max: REMEMBERED_ACCOUNTS });
  readonly #stored = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS, ttl: LATELY_MS });
  /** `<account>:<period>` → PDFs used. */
  readonly #used = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS, ttl: LATELY_MS });

  get(accountId: string): SeenLedger | undefined {
    return this.#seen.get(accountId)?.ledger;
  }

  /** The revision at which a ledger, as it was last seen, names nothing but these ended jobs; undefined otherwise. */
  restsWithout(accountId: string, jobIds: readonly string[]): number | undefined {
    const seen = this.#seen.get(accountId);
    if (seen?.onlyEnding === undefined) return undefined;
    return seen.onlyEnding.every((name) => jobIds.includes(name)) ? seen.ledger.revision : undefined;
  }

  /** The bytes that an account stored a moment ago; undefined when its ledger has not been read since. */
  storedLately(accountId: string): number | undefined {
    return this.#stored.get(accountId);
  }

  /** The PDFs of a period that an account had used a moment ago; undefined when that has not been read since. */
  usedLately(accountId: string, period: Period): number | undefined {
    return this.#used.get(`${accountId}:${period}`);
  }

  forget(accountId: string): void {
    this.#seen.delete(accountId);
    this.#stored.delete(accountId);
  }

  /**
   * Responses may arrive in another order than that of the changes.
   *
   * @param isNamed whether the record has been read by `NAMED`.
   */
  remember(
    record: (SeenLedger & Pick<LedgerRecord, 'stored' | 'ending' | 'finalising' | 'quota'>) | undefined,
    isNamed = false,
  ): void {
    if (record === undefined) return;
    const { _id, revision, inFlight, waiting, queues, pending, stored = 0 } = record;
    if ((this.#seen.get(_id)?.ledger.revision ?? 0) > revision) return;
    this.#stored.set(_id, stored);
    for (const [period, used] of Object.entries(record.quota ?? {})) this.#used.set(`${_id}:${period}`, used);
    const ledger: SeenLedger = {
      _id,
      revision,
      inFlight,
      waiting,
      ...(queues && { queues }),
      ...(pending && { pending }),
    };
    const onlyEnding = isNamed ? onlyEndingIn(record) : undefined;
    this.#seen.set(_id, { ledger, ...(onlyEnding && { onlyEnding }) });
  }
}

/** The names of ended jobs, if nothing else is in the ledger. */
function onlyEndingIn(
  record: SeenLedger & Pick<LedgerRecord, 'ending' | 'finalising'>,
): readonly string[] | undefined {
  const { inFlight, waiting, ending = {}, finalising = {} } = record;
  const others = inFlight > 0 || waiting !== 0 || Object.keys(finalising).length > 0;
  return others || !noneIsPending(record) || !queuesAreEmpty(record) ? undefined : Object.keys(ending);
}
