import { mock } from 'node:test';

/** In place of the clock that `performance.now()` tells: it goes on only when it is told to, until it is restored. */
export class HeldClock {
  nowMs = 1000;
  readonly #held = mock.method(performance, 'now', () => this.nowMs);

  restore(): void {
    this.#held.mock.restore();
  }
}
