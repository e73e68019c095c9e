import type { Logger } from '../telemetry/logger.ts';

const FLUSH_AFTER_MS = 500;
/** Past this many entries the oldest are dropped: what is written behind must never take the memory that serves. */
const MAX_WAITING = 50_000;

/**
 * Gathers entries and writes them together a little later. For what may be late and must never fail or slow a
 * request. An entry that cannot be written is tried again with the next batch.
 */
export class WriteBehind<T> {
  readonly #write: (batch: readonly T[]) => Promise<void>;
  readonly #logger: Logger;
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (batch: readonly T[]) => Promise<void>, logger: Logger) {
    this.#write = write;
    this.#logger = logger;
  }

  add(entry: T): void {
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push(entry);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Resolves when everything added so far is written, or has failed to be once. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(async () => {
      const batch = this.#waiting;
      if (batch.length === 0) return;
      this.#waiting = [];
      try {
        await this.#write(batch);
      } catch (error) {
        this.#logger.warn({ err: error, entries: batch.length }, 'written later');
        this.#waiting = [...batch, ...this.#waiting].slice(-MAX_WAITING);
        this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
      }
    });
    return this.#writing;
  }
}
