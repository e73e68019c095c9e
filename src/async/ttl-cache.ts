import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/**
 * Keeps results for a short time. One look-up at a time per key: callers that come meanwhile share it. When full, the
 * least recently used result is dropped.
 */
export class TtlCache<K extends string, V> {
  readonly #entries: LRUCache<K, { readonly until: number; readonly value: Promise<V> }>;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, maxEntries: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    // The library's own time-to-live and look-ups do not fit: an age counts there from after the look-up, and a caller
    // that waits for a dropped look-up would get an error.
    this.#entries = new LRUCache({ max: maxEntries });
    this.#clock = clock;
  }

  /** The result of `load` of at most ttlMs ago. A failed look-up is not kept. */
  get(key: K, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.now().getTime();
    const kept = this.#entries.get(key);
    if (kept !== undefined && kept.until > now) return kept.value;
    // The age counts from before the look-up: the result may have been decided then.
    const entry = { until: now + this.#ttlMs, value: load() };
    entry.value.catch(() => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key);
    });
    this.#entries.set(key, entry);
    return entry.value;
  }

  forget(key: K): void {
    this.#entries.delete(key);
  }
}
