import { AccountUse, nextTurn } from '../async/account-use.ts';
import { PlatenError } from '../errors/registry.ts';

/** Admissions under way at a time, of all accounts. More would only wait for each other. */
const AT_ONCE = 16;
/** The same of one account, while another one is about. */
const OF_ONE_ACCOUNT = 2;
/** An account is about for so long after its last request for work, in milliseconds. */
const ABOUT_MS = 5000;
/** Longest wait for a turn, in milliseconds. */
const LONGEST_WAIT_MS = 10_000;
const RETRY_AFTER_S = 1;
/** Longer than any admission should take: which of them are slow does not matter here. Milliseconds. */
const NEVER_SLOW_MS = LONGEST_WAIT_MS;

interface Waiting {
  readonly account: string;
  readonly start: () => void;
}

export interface AdmissionTurnsOptions {
  /** Milliseconds of a clock that never goes back; the process's own unless said otherwise. */
  readonly now?: () => number;
  /** Longest wait for a turn, in milliseconds; default 10,000. */
  readonly longestWaitMs?: number;
}

/**
 * Whose request for work is let in next. Reading an order, checking it and writing it down takes a dozen steps, each of
 * which waits for its turn on the event loop and at the database. An account that sends many at once would have as many
 * steps before each of anybody else's; so while another account is about, it has two under way at a time, and the others
 * wait, which its senders notice as a slower answer. Alone it has as many as all accounts together. Of those that wait the
 * account that has been let in for the least time lately is next, and of an account who came first.
 */
export class AdmissionTurns {
  readonly #now: () => number;
  readonly #longestWaitMs: number;
  readonly #use: AccountUse;
  readonly #waiting = new Set<Waiting>();
  /** By account, how many of its admissions are under way. */
  readonly #running = new Map<string, number>();
  /** When accounts last asked; who asked last comes last. */
  readonly #asked = new Map<string, number>();
  #total = 0;

  constructor({
    now = () => performance.now(),
    longestWaitMs = LONGEST_WAIT_MS,
  }: AdmissionTurnsOptions = {}) {
    this.#now = now;
    this.#longestWaitMs = longestWaitMs;
    this.#use = new AccountUse({ slowMs: NEVER_SLOW_MS, strangerMs: 0, now });
  }

  /**
   * Resolves when it is this account's turn.
   *
   * @param signal gives the wait up; a turn that has begun is not its matter.
   * @returns what ends the turn; calling it again changes nothing.
   * @throws PlatenError UNAVAILABLE after ten seconds; the signal's reason when it aborts before the turn.
   */
  begin(account: string, signal: AbortSignal): Promise<() => void> {
    this.#note(account);
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const giveUp = (reason: unknown) => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', onAbort);
        reject(reason);
      };
      const onAbort = () => giveUp(signal.reason);
      const waiting: Waiting = {
        account,
        start: () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          resolve(this.#start(account));
        },
      };
      const timer = setTimeout(() => giveUp(tooMany()), this.#longestWaitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#grant();
    });
  }

  #grant(): void {
    while (this.#total < AT_ONCE) {
      const next = nextTurn(this.#waiting, this.#use, (account) => this.#mayStart(account));
      if (next === undefined) return;
      this.#waiting.delete(next);
      next.start();
    }
  }

  #mayStart(account: string): boolean {
    return (this.#running.get(account) ?? 0) < OF_ONE_ACCOUNT || !this.#isAnotherAbout(account);
  }

  #start(account: string): () => void {
    const use = this.#use.begin(account);
    this.#total += 1;
    this.#running.set(account, (this.#running.get(account) ?? 0) + 1);
    let under = true;
    return () => {
      if (!under) return;
      under = false;
      this.#use.end(use);
      this.#total -= 1;
      const left = (this.#running.get(account) ?? 1) - 1;
      if (left === 0) this.#running.delete(account);
      else this.#running.set(account, left);
      this.#grant();
    };
  }

  #note(account: string): void {
    this.#asked.delete(account);
    this.#asked.set(account, this.#now());
    this.#forget();
  }

  #isAnotherAbout(account: string): boolean {
    this.#forget();
    return this.#asked.size > Number(this.#asked.has(account));
  }

  /** Those that are not about any more. */
  #forget(): void {
    const since = this.#now() - ABOUT_MS;
    for (const [account, at] of this.#asked) {
      if (at >= since) return;
      this.#asked.delete(account);
    }
  }
}

function tooMany(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'Too many requests for work wait to be let in.', {
    retryAfterSeconds: RETRY_AFTER_S,
  });
}
