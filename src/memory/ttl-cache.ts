import type { Clock } from '../clock.ts';

/**
 * Keeps answers for a short time. One look-up at a time per key: callers that come meanwhile share it. When full, the
 * oldest answer goes.
 */
export class TtlCache<K, V> {
  readonly #entries = new Map<K, { readonly until: number; readonly value: Promise<V> }>();
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, maxEntries: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
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
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value as K);
    return entry.value;
  }

  forget(key: K): void {
    this.#entries.delete(key);
  }
}
