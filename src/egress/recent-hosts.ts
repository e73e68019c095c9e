import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { parseHost } from './host.ts';

/** Hosts to which something happened a short while ago. Holds at most `capacity`; the oldest give way. */
export class RecentHosts {
  /** Host to epoch milliseconds of the last time. */
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

  /** Whether it happened to `hostname` (as a URL has it, brackets and all) at `sinceEpochMs` or later. */
  hasSince(hostname: string, sinceEpochMs: number): boolean {
    const at = this.#seen.peek(parseHost(hostname)?.text ?? '');
    return at !== undefined && at >= sinceEpochMs && at > this.#clock.now().getTime() - this.#ttlMs;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** Nothing but `add` makes a host a recent one, so the least recent is the oldest. */
  #oldestAt(): number {
    const { value: oldest = '' } = this.#seen.rkeys().next();
    return this.#seen.peek(oldest) ?? Number.POSITIVE_INFINITY;
  }
}
