import { LRUCache } from 'lru-cache';
import { systemTimers, type Timers } from '../async/timers.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';

/** How far the clocks of two machines may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000;
/** Times that are followed at a time; the least recently checked is dropped. */
const FOLLOWED = 10_000;

interface FutureTimesOptions {
  readonly timers?: Timers | undefined;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

/**
 * Measures times that records contain, some of which lie further in the future than they can: the clock of the machine
 * that wrote them was ahead, or the clock of this machine has been set back. Without this, a lease whose holder has
 * crashed would end only when the clocks have caught up, perhaps a day later.
 *
 * Such a time is measured from the moment at which this process has first seen it, by a monotonic clock. A holder that is
 * alive renews its lease, which changes the time and starts the measurement anew. So a machine whose clock is wrong may
 * work, and what it leaves behind after a crash is taken over about as soon as usual.
 */
export class FutureTimes {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #logger: Pick<Logger, 'warn'> | undefined;
  readonly #seen = new LRUCache<string, { readonly time: number; readonly atMs: number }>({ max: FOLLOWED });

  constructor(clock: Clock, { timers = systemTimers, logger }: FutureTimesOptions = {}) {
    this.#clock = clock;
    this.#timers = timers;
    this.#logger = logger;
  }

  /** Milliseconds since a time at which something was done. @param key distinguishes it from other times. */
  ageMs(key: string, time: Date | number): number {
    const at = Number(time);
    const now = this.#clock.now().getTime();
    return at > now + CLOCK_SKEW_MS ? this.#seenForMs(key, at) : now - at;
  }

  /**
   * Whether a lease or wait is over.
   *
   * @param longestMs from its beginning to its end, at most.
   * @param renewedMs the time within which a holder that is alive renews it; default `longestMs`.
   */
  isOver(key: string, end: Date | number, longestMs: number, renewedMs = longestMs): boolean {
    const at = Number(end);
    const now = this.#clock.now().getTime();
    return at > now + longestMs + CLOCK_SKEW_MS ? this.#seenForMs(key, at) >= renewedMs : at <= now;
  }

  /** For how long this process has seen a time unchanged. */
  #seenForMs(key: string, time: number): number {
    const nowMs = this.#timers.nowMs();
    const seen = this.#seen.get(key);
    if (seen?.time === time) return nowMs - seen.atMs;
    this.#seen.set(key, { time, atMs: nowMs });
    // Once for each record: a holder that is alive changes the time with each renewal.
    if (seen === undefined) {
      this.#logger?.warn(
        { key, time: new Date(time) },
        'a time is too far in the future: the clock of the machine that wrote it was ahead, or this one is behind',
      );
    }
    return 0;
  }
}
