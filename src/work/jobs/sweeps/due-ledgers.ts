import { LRUCache } from 'lru-cache';
import { DueWork } from '../../../infra/store/due-work.ts';
import type { DueLedgers } from '../ledger/ledger-due.ts';
import { isAtRest, type LedgerRecord, queuesAreEmpty } from '../ledger/ledger-record.ts';
import { namedIn, type RepairedJobs, repairLedger } from './interrupted-jobs.ts';
import { nextCheck } from './next-check.ts';
import type { WaitingJobs } from './waiting-jobs.ts';

interface DueLedgersDeps extends RepairedJobs {
  readonly due: DueLedgers;
  readonly waitingJobs: Pick<WaitingJobs, 'serve' | 'expire'>;
}

/** Ledgers that one query finds, and that are checked at the same time. */
const PER_QUERY = 1000;
const AT_ONCE = 16;
/** Queries of one run. */
const MOST_QUERIES = 20;
/** When a ledger is looked at again in which something was repaired, in milliseconds: one repair may call for another. */
const AFTER_REPAIR_MS = 1000;
/** Milliseconds between two searches of an account's queues for jobs that have waited beyond their retention. */
const EXPIRY_MS = 60_000;
/** Accounts for which this process remembers the last search. */
const REMEMBERED = 100_000;

/**
 * Checks the ledgers that are due, and no others: a ledger whose jobs go on as they should has been changed, or is at
 * rest, before it is due. Any number of dispatchers share them, as each ledger is claimed by one.
 */
export class DueLedgersSweep {
  readonly #deps: DueLedgersDeps;
  readonly #work: DueWork<LedgerRecord, number>;
  readonly #searched = new LRUCache<string, true>({ max: REMEMBERED, ttl: EXPIRY_MS });

  constructor(deps: DueLedgersDeps) {
    this.#deps = deps;
    const { due } = deps;
    this.#work = new DueWork<LedgerRecord, number>({
      queue: due,
      perQuery: PER_QUERY,
      atOnce: AT_ONCE,
      bounds: {
        free: () => Number.POSITIVE_INFINITY,
        // In an order of its own, so that two processes that have read the same ledgers seldom try to claim the same one.
        due: async (limit) => shuffled(await due.due(limit)),
        reserve: () => ({ release: () => undefined }),
      },
      attempt: (ledger) => this.#check(ledger),
    });
  }

  /** One query when nothing is due. @returns the number of repairs. */
  async run(): Promise<number> {
    let repaired = 0;
    for (let queries = 0; queries < MOST_QUERIES; queries += 1) {
      const checked = await this.#work.pass();
      for (const repairs of checked) repaired += repairs;
      // Fewer than there are on a full page: the rest is due no longer, or others check it.
      if (checked.length < PER_QUERY / 2) break;
    }
    return repaired;
  }

  async #check(ledger: LedgerRecord): Promise<number> {
    const { due, store, times, waitingJobs, clock, redeliveryMs } = this.#deps;
    const live = await store.live.among(namedIn(ledger, times));
    let repaired = await repairLedger(this.#deps, ledger, live);
    repaired += await waitingJobs.serve([ledger]);
    repaired += await this.#expire(ledger);
    const nowMs = clock.now().getTime();
    if (repaired > 0) await due.postpone(ledger, new Date(nowMs + AFTER_REPAIR_MS));
    else if (!isAtRest(ledger))
      await due.checked(ledger, new Date(nextCheck(ledger, live, { nowMs, redeliveryMs })));
    return repaired;
  }

  async #expire(ledger: LedgerRecord): Promise<number> {
    if (queuesAreEmpty(ledger) || this.#searched.has(ledger._id)) return 0;
    this.#searched.set(ledger._id, true);
    return this.#deps.waitingJobs.expire([ledger]);
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, at: Math.random() }));
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item);
}
