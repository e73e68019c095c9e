import { mock } from 'node:test';

/** Replaces the clock of `performance.now()`: it advances only on demand, until it is restored. */
export class HeldClock {
  nowMs = 1000;
  readonly #held = mock.method(performance, 'now', () => this.nowMs);

  restore(): void {
    this.#held.mock.restore();
  }
}
