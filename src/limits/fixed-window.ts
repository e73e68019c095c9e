import type { Clock } from '../clock.ts';

/** The window of a key that is open now. */
export interface OpenWindow {
  /** `<key>:<number of the window>`: what is counted under it begins anew in every window. */
  readonly id: string;
  readonly endsAt: Date;
  /** Milliseconds until it ends, at least 1. */
  readonly leftMs: number;
}

/**
 * Fixed windows of time to count in: each is as long as the others, and begins when the one before it ends. Where the
 * counts are kept, in the database for all processes or in memory for one, is their owner's matter.
 */
export class FixedWindow {
  readonly #lengthMs: number;
  readonly #clock: Clock;

  constructor(lengthMs: number, clock: Clock) {
    this.#lengthMs = lengthMs;
    this.#clock = clock;
  }

  /** @param shiftMs how much later than other keys' the windows of this key begin, in milliseconds. */
  of(key: string, shiftMs = 0): OpenWindow {
    const now = this.#clock.now().getTime();
    const number = Math.floor((now - shiftMs) / this.#lengthMs);
    const end = (number + 1) * this.#lengthMs + shiftMs;
    return { id: `${key}:${number}`, endsAt: new Date(end), leftMs: end - now };
  }
}
