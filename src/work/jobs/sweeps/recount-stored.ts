import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../infra/clock.ts';
import { isPastTestPeriod } from '../../../tenants/plans/quota-period.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import type { StoredBytes } from '../ledger/stored-bytes.ts';

interface RecountDeps {
  readonly stored: StoredBytes;
  readonly clock: Clock;
  /** Each function counts the bytes of one kind that an account really stores. */
  readonly counts: readonly ((accountId: string) => Promise<number>)[];
}

/** The most accounts that one run checks, and the most that it recounts. */
const PER_PASS = 1000;
const COUNTED = 50;
/** Accounts whose last revision is remembered. */
const REMEMBERED = 100_000;

/**
 * Recounts the bytes that accounts store. The number in the ledger is exact unless a process dies between two steps;
 * then this corrects it. An account is recounted when it has changed since the last recount, has then stayed unchanged
 * between two runs, and has no job between two steps. So no bytes are counted that are about to be taken or given back.
 */
export class StoredRecount {
  readonly #deps: RecountDeps;
  readonly #seen = new LRUCache<string, number>({ max: REMEMBERED });
  /** The account that was checked last. */
  #last = '';

  constructor(deps: RecountDeps) {
    this.#deps = deps;
  }

  /** Goes on after the previous run's last account, and round again. @returns the number of corrections. */
  async run(): Promise<number> {
    const records = await this.#deps.stored.after(this.#last, PER_PASS);
    let counted = 0;
    let repaired = 0;
    this.#last = records.length < PER_PASS ? '' : records.at(-1)!._id;
    for (const record of records) {
      const { _id, revision } = record;
      const unchanged = this.#seen.get(_id) === revision;
      this.#seen.set(_id, revision);
      if (revision === record.recounted || !unchanged || !nothingOnItsWay(record)) continue;
      repaired += Number(await this.#recount(record));
      counted += 1;
      if (counted < COUNTED) continue;
      this.#last = _id;
      break;
    }
    return repaired;
  }

  async #recount(record: LedgerRecord): Promise<boolean> {
    const { stored, clock, counts } = this.#deps;
    let bytes = 0;
    for (const count of counts) bytes += await count(record._id);
    const past = Object.keys(record.quota ?? {}).filter((period) => isPastTestPeriod(period, clock.now()));
    const set = await stored.set(record, bytes, past);
    return set && bytes !== (record.stored ?? 0);
  }
}

function nothingOnItsWay({ holders, pending, finalising, ending }: LedgerRecord): boolean {
  return [holders, pending, finalising, ending].every((names) => Object.keys(names ?? {}).length === 0);
}
