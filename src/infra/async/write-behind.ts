import type { Logger } from '../telemetry/logger.ts';
import { withoutCaller } from './caller-scope.ts';

export interface WriteBehindOptions {
  /** How long an entry may wait for others, and a failed write for its retry, in milliseconds; default 500. */
  readonly delayMs?: number;
  /** When this many entries wait, a write begins at once; also the most entries of one write. Default unlimited. */
  readonly flushAt?: number;
  /** The most waiting entries, default 50,000; further ones replace the oldest, which bounds memory. */
  readonly maxWaiting?: number;
}

/**
 * Gathers entries and writes them together a little later: for entries that may be late and must never fail or slow
 * down a request. One write runs at a time. Entries that cannot be written are retried after the delay, in their order.
 * A write that failed half-way is repeated as a whole, so `write` has to be idempotent.
 */
export class WriteBehind<T> {
  readonly #write: (batch: readonly T[]) => Promise<void>;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #delayMs: number;
  readonly #flushAt: number;
  readonly #maxWaiting: number;
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #failed = false;
  /** The running flush, and the flush that follows it. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(
    write: (batch: readonly T[]) => Promise<void>,
    logger: Pick<Logger, 'warn'>,
    { delayMs = 500, flushAt = Number.POSITIVE_INFINITY, maxWaiting = 50_000 }: WriteBehindOptions = {},
  ) {
    this.#write = write;
    this.#logger = logger;
    this.#delayMs = delayMs;
    this.#flushAt = flushAt;
    this.#maxWaiting = maxWaiting;
  }

  /** Never throws. */
  add(entry: T): void {
    if (this.#waiting.length >= this.#maxWaiting) this.#waiting.shift();
    this.#waiting.push(entry);
    // After a failure the delay is kept; otherwise every new entry would trigger another attempt.
    if (this.#waiting.length >= this.#flushAt && !this.#failed) void this.flush();
    else this.#flushLater();
  }

  /** Resolves when every entry added so far has been written, or its write has failed once. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Callers during a flush share the next flush, which writes the entries added meanwhile.
    this.#next ??= this.#flushing.then(() => {
      this.#next = undefined;
      // Nobody waits for it, also when the entry of a request has filled a batch.
      this.#flushing = withoutCaller(() => this.#writeWaiting());
      return this.#flushing;
    });
    return this.#next;
  }

  /** Writes the waiting entries in batches. */
  async #writeWaiting(): Promise<void> {
    const due = this.#waiting;
    this.#waiting = [];
    const size = Math.min(this.#flushAt, due.length);
    for (let from = 0; from < due.length; from += size) {
      try {
        await this.#write(due.slice(from, from + size));
        this.#failed = false;
      } catch (error) {
        const left = due.slice(from);
        this.#logger.warn({ err: error, entries: left.length }, 'written later');
        this.#failed = true;
        this.#waiting = [...left, ...this.#waiting].slice(-this.#maxWaiting);
        this.#flushLater();
        return;
      }
    }
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs).unref();
  }
}
