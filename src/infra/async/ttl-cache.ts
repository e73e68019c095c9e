import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/**
 * Keeps results for a short time. One lookup at a time per key: concurrent callers share it. When the cache is full,
 * the least recently used result is dropped.
 */
export class TtlCache<K extends string, V> {
  readonly #entries: LRUCache<K, { readonly until: number; readonly value: Promise<V> }>;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, maxEntries: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    // The library's own time-to-live and lookups do not fit: it counts an age from the end of the lookup, and a caller
    // that waits for a dropped lookup would get an error.
    this.#entries = new LRUCache({ max: maxEntries });
    this.#clock = clock;
  }

  /** The result of `load`, at most ttlMs old. A failed lookup is not kept. */
  get(key: K, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.now().getTime();
    const kept = this.#entries.get(key);
    // One that is kept for longer than that was made before the clock was set back.
    if (kept !== undefined && kept.until > now && kept.until <= now + this.#ttlMs) return kept.value;
    // The age counts from the start of the lookup, because the result may have been determined then.
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
