import { LRUCache } from 'lru-cache';
import { AccountUse, nextTurn } from '../async/account-use.ts';
import { PlatenError } from '../errors/registry.ts';

/** Admissions under way at a time, of all accounts. More would only wait for each other. */
const AT_ONCE = 16;
/** The same of one account, while another one is about. */
const OF_ONE_ACCOUNT = 2;
/** What an account did is lately for so long, in milliseconds: it is about, or its callers wait. */
const ABOUT_MS = 5000;
/** Longest wait for a turn, in milliseconds. */
const LONGEST_WAIT_MS = 30_000;
const RETRY_AFTER_S = 1;
/** Accounts of which it is remembered that they last sent an order for the background. */
const REMEMBERED_ACCOUNTS = 10_000;
/** Longer than any admission should take: which of them are slow does not matter here. Milliseconds. */
const NEVER_SLOW_MS = LONGEST_WAIT_MS;

interface Waiting {
  readonly account: string;
  readonly start: () => void;
}

export interface AdmissionTurnsOptions {
  /** Milliseconds of a clock that never goes back; the process's own unless said otherwise. */
  readonly now?: () => number;
  /** Longest wait for a turn, in milliseconds; default 30,000. */
  readonly longestWaitMs?: number;
  /**
   * Between two turns of an account that sends orders for the background, while callers of another account wait for
   * PDFs; in milliseconds. Default 0: where orders are let in on other cores than PDFs are rendered.
   */
  readonly gapMs?: number;
}

/**
 * Whose request for work is let in next. Reading an order, checking it and writing it down takes a dozen steps, each of
 * which waits for its turn on the event loop and at the database. An account that sends many at once would have as many
 * steps before each of anybody else's; so while another account is about, it has two under way at a time, and the others
 * wait, which its senders notice as a slower answer. Alone it has as many as all accounts together. Of those that wait the
 * account that has been let in for the least time lately is next, and of an account who came first.
 *
 * Where PDFs are rendered on the same cores, letting in a flood of orders for the background takes them from the renders
 * that callers wait for. So while callers of others wait for
 * PDFs (the last order of one came within five seconds), the turns of such an account have a gap between them.
 */
export class AdmissionTurns {
  readonly #now: () => number;
  readonly #longestWaitMs: number;
  readonly #use: AccountUse;
  readonly #waiting = new Set<Waiting>();
  /** By account, how many of its admissions are under way. */
  readonly #running = new Map<string, number>();
  /** Accounts that have asked for work. */
  readonly #asked = new Lately();
  readonly #gapMs: number;
  /** By account whose last order was for the background: when its next turn may begin, by the clock. */
  readonly #background = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS });
  /** Accounts whose callers wait for their PDFs. */
  readonly #awaited = new Lately();
  #gapTimer: NodeJS.Timeout | undefined;
  #total = 0;

  constructor({
    now = () => performance.now(),
    longestWaitMs = LONGEST_WAIT_MS,
    gapMs = 0,
  }: AdmissionTurnsOptions = {}) {
    this.#now = now;
    this.#gapMs = gapMs;
    this.#longestWaitMs = longestWaitMs;
    this.#use = new AccountUse({ slowMs: NEVER_SLOW_MS, strangerMs: 0, now });
  }

  /**
   * Resolves when it is this account's turn.
   *
   * @param signal gives the wait up; a turn that has begun is not its matter.
   * @returns what ends the turn; calling it again changes nothing.
   * @throws PlatenError UNAVAILABLE after thirty seconds; the signal's reason when it aborts before the turn.
   */
  begin(account: string, signal: AbortSignal): Promise<() => void> {
    this.#asked.note(account, this.#now());
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
      this.#use.arrive(account, this.#waiting);
      this.#waiting.add(waiting);
      this.#grant();
    });
  }

  /** The order that the account's turn is about is for the background: nobody waits for the PDF. */
  isForBackground(account: string): void {
    if (!this.#background.has(account)) this.#background.set(account, this.#now() + this.#gapMs);
  }

  /** The order that the account's turn is about is one that its caller waits for. */
  isAwaited(account: string): void {
    this.#background.delete(account);
    this.#awaited.note(account, this.#now());
  }

  #grant(): void {
    while (this.#total < AT_ONCE) {
      const next = nextTurn(this.#waiting, this.#use, (account) => this.#mayStart(account));
      if (next === undefined) break;
      this.#waiting.delete(next);
      next.start();
    }
    if (this.#gapMs === 0 || this.#gapTimer !== undefined || this.#waiting.size === 0) return;
    this.#gapTimer = setTimeout(() => {
      this.#gapTimer = undefined;
      this.#grant();
    }, this.#gapMs);
    this.#gapTimer.unref();
  }

  #mayStart(account: string): boolean {
    if (this.#keepsGap(account)) return false;
    return (this.#running.get(account) ?? 0) < OF_ONE_ACCOUNT || !this.#asked.another(account, this.#now());
  }

  #keepsGap(account: string): boolean {
    const next = this.#background.get(account) ?? Number.NEGATIVE_INFINITY;
    return next > this.#now() && this.#awaited.another(account, this.#now());
  }

  #start(account: string): () => void {
    if (this.#background.has(account)) this.#background.set(account, this.#now() + this.#gapMs);
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
}

/** Who did something lately. */
class Lately {
  /** Who did it last comes last. */
  readonly #at = new Map<string, number>();

  note(account: string, now: number): void {
    this.#at.delete(account);
    this.#at.set(account, now);
    this.#forget(now);
  }

  /** Whether an account did that is not this one. */
  another(account: string, now: number): boolean {
    this.#forget(now);
    return this.#at.size > Number(this.#at.has(account));
  }

  #forget(now: number): void {
    for (const [account, at] of this.#at) {
      if (at >= now - ABOUT_MS) return;
      this.#at.delete(account);
    }
  }
}

function tooMany(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'Too many requests for work wait to be let in.', {
    retryAfterSeconds: RETRY_AFTER_S,
  });
}
