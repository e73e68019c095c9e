import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/**
 * Keeps answers for a short time. One look-up at a time per key: callers that come meanwhile share it. When full, the
 * answer that was not asked for longest goes.
 */
export class TtlCache<K extends string, V> {
  readonly #entries: LRUCache<K, { readonly until: number; readonly value: Promise<V> }>;
  readonly #ttlMs: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, maxEntries: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    // Neither the library's times nor its look-ups fit: an age counts there from after the look-up, and whoever waits
    // for a look-up that is forgotten would get an error.
    this.#entries = new LRUCache({ max: maxEntries });
    this.#clock = clock;
  }

  /** What `load` answered at most ttlMs ago. A failed look-up is not kept. */
  get(key: K, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.now().getTime();
    const kept = this.#entries.get(key);
    if (kept !== undefined && kept.until > now) return kept.value;
    // The age counts from before the look-up: what it answers may have been decided then.
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
