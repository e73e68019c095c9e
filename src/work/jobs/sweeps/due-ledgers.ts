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

/**
 * Ledgers that one query finds, and how many of them, at random, are then claimed: so two processes that have found the same
 * ones seldom try to claim the same one.
 */
const PER_QUERY = 1000;
const PER_PASS = 200;
/** Ledgers that are checked at the same time. */
const AT_ONCE = 16;
/** Passes of one run. */
const MOST_PASSES = 100;
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
  /** Ledgers that the last query found. */
  #found = 0;
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
        due: async (limit) => {
          const found = await due.due(limit);
          this.#found = found.length;
          return shuffled(found).slice(0, PER_PASS);
        },
        reserve: () => ({ release: () => undefined }),
      },
      attempt: (ledger) => this.#check(ledger),
    });
  }

  /** One query when nothing is due. @returns the number of repairs. */
  async run(): Promise<number> {
    let repaired = 0;
    for (let passes = 0; passes < MOST_PASSES; passes += 1) {
      for (const repairs of await this.#work.pass()) repaired += repairs;
      if (this.#found <= PER_PASS) break;
    }
    return repaired;
  }

  async #check(ledger: LedgerRecord): Promise<number> {
    const { due, store, times, waitingJobs, clock, redeliveryMs } = this.#deps;
    const live = await store.live.among(namedIn(ledger, times));
    let repaired = await repairLedger(this.#deps, ledger, live);
    repaired += await waitingJobs.serve([ledger]);
    // Not repairs: that jobs wait for too long may be the plan's doing.
    const ended = await this.#expire(ledger);
    const nowMs = clock.now().getTime();
    if (repaired + ended > 0) await this.#again(ledger, nowMs);
    else if (!isAtRest(ledger))
      await due.checked(ledger, new Date(nextCheck(ledger, live, { nowMs, redeliveryMs })));
    return repaired;
  }

  /** After a change: the ledger is at rest, or is looked at again soon. */
  async #again(ledger: LedgerRecord, nowMs: number): Promise<void> {
    const changed = await this.#deps.ledger.find(ledger._id);
    if (changed !== undefined && isAtRest(changed) && (await this.#deps.ledger.rest(changed))) return;
    await this.#deps.due.postpone(ledger, new Date(nowMs + AFTER_REPAIR_MS));
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
