import type { Clock } from '../clock.ts';
import { parseHost } from './host.ts';

/** Hosts to which something happened a short while ago. Holds at most `capacity`; the oldest give way. */
export class RecentHosts {
  /** Host to epoch milliseconds of the last time, oldest first. */
  readonly #seen = new Map<string, number>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #capacity: number;

  constructor(options: { clock: Clock; ttlMs: number; capacity: number }) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
    this.#capacity = options.capacity;
  }

  add(host: string): void {
    const now = this.#clock.now().getTime();
    this.#seen.delete(host);
    this.#seen.set(host, now);
    for (const [oldest, at] of this.#seen) {
      if (this.#seen.size <= this.#capacity && at > now - this.#ttlMs) break;
      this.#seen.delete(oldest);
    }
  }

  /** Whether it happened to `hostname` (as a URL has it, brackets and all) at `sinceEpochMs` or later. */
  hasSince(hostname: string, sinceEpochMs: number): boolean {
    const at = this.#seen.get(parseHost(hostname)?.text ?? '');
    return at !== undefined && at >= sinceEpochMs && at > this.#clock.now().getTime() - this.#ttlMs;
  }

  get size(): number {
    return this.#seen.size;
  }
}
