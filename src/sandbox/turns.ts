import { AccountUse, nextTurn, type Use } from '../async/account-use.ts';

const MAX_PROCESSES = 8;

/**
 * How many processes a sandbox of a worker has: one for so many slots, and one more, which is kept for quick calls.
 *
 * @param slots renders at a time.
 */
export function sandboxProcesses(slots: number, slotsPerProcess: number): number {
  return Math.min(MAX_PROCESSES, 1 + Math.ceil(slots / slotsPerProcess));
}

/** A call that waits for a process, or is in one. */
export interface Turn {
  readonly account: string;
  /** Takes its process. */
  readonly start: () => void;
  /** Ends it where it is; it then waits again. */
  readonly putBack: () => void;
}

interface Running {
  readonly use: Use;
  /** It counts among the slow ones. */
  slow: boolean;
  /** It has taken a place that is kept for quick ones, and has turned out to be slow. */
  inTheWay: boolean;
  readonly timer: NodeJS.Timeout;
}

export interface TurnsOptions {
  /** Processes, at most. */
  readonly places: number;
  /** A call that takes longer is slow, in milliseconds. */
  readonly sliceMs: number;
  /** How many places will be free by themselves: their processes are being started. */
  readonly coming: () => number;
}

/**
 * Whose call is next. The account that has used least lately goes first, and within an account who came first. All but one
 * of the places are for everybody; one is closed to accounts whose calls have been slow within the last minute. Who turns
 * out to be slow in it is put back as soon as others wait, to begin anew in one of the other places, once.
 *
 * So a quick call waits for about one slice and the start of a process, however many accounts there are whose calls
 * never end: see docs/decisions/0110-turns.md.
 */
export class Turns<T extends Turn> {
  readonly #options: TurnsOptions;
  readonly #use: AccountUse;
  readonly #waiting = new Set<T>();
  readonly #running = new Map<T, Running>();
  /** Put back before. */
  readonly #again = new WeakSet<object>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#use = new AccountUse({ slowMs: options.sliceMs });
  }

  get waiting(): ReadonlySet<T> {
    return this.#waiting;
  }

  wait(turn: T): void {
    this.#waiting.add(turn);
    this.#makeWay();
  }

  leave(turn: T): void {
    this.#waiting.delete(turn);
  }

  /** Starts whose turn it is; false when nobody may start now. */
  startNext(): boolean {
    const next = nextTurn(this.#waiting, this.#use, (account) => this.#mayStart(account));
    if (next === undefined) return false;
    this.#waiting.delete(next);
    this.#begin(next);
    next.start();
    return true;
  }

  /** A call has ended, or was put back. */
  end(turn: T): void {
    const running = this.#running.get(turn);
    if (running === undefined) return;
    clearTimeout(running.timer);
    this.#use.end(running.use);
    this.#running.delete(turn);
  }

  #begin(turn: T): void {
    const { sliceMs } = this.#options;
    const slow = this.#use.isSlow(turn.account);
    const timer = setTimeout(() => this.#sliceIsOver(turn), sliceMs + 1);
    timer.unref();
    this.#running.set(turn, { use: this.#use.begin(turn.account), slow, inTheWay: false, timer });
  }

  #sliceIsOver(turn: T): void {
    const running = this.#running.get(turn);
    if (running === undefined || running.slow) return;
    running.slow = true;
    running.inTheWay = !this.#again.has(turn);
    this.#makeWay();
  }

  #mayStart(account: string): boolean {
    return !this.#use.isSlow(account) || this.#slowRunning() < Math.max(1, this.#options.places - 1);
  }

  #slowRunning(): number {
    let slow = 0;
    for (const running of this.#running.values()) slow += Number(running.slow);
    return slow;
  }

  /** Puts a slow call back where all places are taken by slow ones and a quick account waits. */
  #makeWay(): void {
    if (this.#slowRunning() < this.#options.places || this.#options.coming() > 0) return;
    if (nextTurn(this.#waiting, this.#use, (account) => !this.#use.isSlow(account)) === undefined) return;
    const [last] = [...this.#running].reverse().filter(([, { inTheWay }]) => inTheWay);
    if (last === undefined) return;
    const [turn] = last;
    this.#again.add(turn);
    this.end(turn);
    turn.putBack();
  }
}
