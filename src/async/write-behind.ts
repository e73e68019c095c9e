import type { Logger } from '../telemetry/logger.ts';

export interface WriteBehindOptions {
  /** How long an entry may wait for others, and a failed write for its repetition, in milliseconds; default 500. */
  readonly delayMs?: number;
  /** This many entries are written at once, without waiting for more, and never more of them together. */
  readonly flushAt?: number;
  /** Beyond this many entries the oldest are dropped: entries to be written must not use up the memory of requests. */
  readonly maxWaiting?: number;
}

/**
 * Gathers entries and writes them together a little later. For entries that may be late and must never fail or slow a
 * request. One write is under way at a time. Entries that cannot be written are tried again after the delay, in their
 * order; a write that failed half-way is repeated whole, so `write` has to be idempotent.
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
  /** The flush under way, and the one that begins when it has ended. */
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

  /** Never fails. */
  add(entry: T): void {
    if (this.#waiting.length >= this.#maxWaiting) this.#waiting.shift();
    this.#waiting.push(entry);
    // After a failure the delay is kept, or every new entry would be a further try.
    if (this.#waiting.length >= this.#flushAt && !this.#failed) void this.flush();
    else this.#flushLater();
  }

  /** Resolves when everything added so far is written, or has failed to be once. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Callers during a flush share the one after it: that writes the entries that came meanwhile.
    this.#next ??= this.#flushing.then(() => {
      this.#next = undefined;
      this.#flushing = this.#writeWaiting();
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
