import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { parseHost } from './host.ts';

/** Hosts with a recent event. Holds at most `capacity`; the oldest are dropped. */
export class RecentHosts {
  /** Host to the epoch milliseconds of its last event. */
  readonly #seen: LRUCache<string, number>;
  readonly #clock: Clock;
  readonly #ttlMs: number;

  constructor(options: { clock: Clock; ttlMs: number; capacity: number }) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
    this.#seen = new LRUCache({ max: options.capacity });
  }

  add(host: string): void {
    const now = this.#clock.now().getTime();
    this.#seen.set(host, now);
    while (this.#oldestAt() <= now - this.#ttlMs) this.#seen.pop();
  }

  /** Whether `hostname` (as a URL has it, with brackets) has had the event at `sinceEpochMs` or later. */
  hasSince(hostname: string, sinceEpochMs: number): boolean {
    const at = this.#seen.peek(parseHost(hostname)?.text ?? '');
    return at !== undefined && at >= sinceEpochMs && at > this.#clock.now().getTime() - this.#ttlMs;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** Only `add` makes a host recent, so the least recently used is the oldest. */
  #oldestAt(): number {
    const { value: oldest = '' } = this.#seen.rkeys().next();
    return this.#seen.peek(oldest) ?? Number.POSITIVE_INFINITY;
  }
}
