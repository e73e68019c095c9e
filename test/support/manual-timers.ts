import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Timers } from '../../src/infra/async/timers.ts';

const HOUR_MS = 3_600_000;
const STEP_MS = 50;
const STEP_TAKES_MS = 5;

/** Timers whose time passes only on demand. */
export class ManualTimers implements Timers {
  #nowMs = 0;
  readonly #pending = new Set<{ readonly dueMs: number; readonly callback: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, callback };
    this.#pending.add(timer);
    return () => this.#pending.delete(timer);
  }

  /** Passes `ms` milliseconds: calls back whatever is due, in order, and lets promises settle in between. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await immediate();
    for (;;) {
      const next = [...this.#pending]
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#pending.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
      await immediate();
    }
    this.#nowMs = untilMs;
  }

  /**
   * Lets time pass bit by bit until it holds, with some of the machine's own in between for what comes from elsewhere.
   *
   * @throws when it does not hold after an hour.
   */
  async passUntil(what: string, holds: () => boolean): Promise<void> {
    for (const untilMs = this.#nowMs + HOUR_MS; !holds(); await this.pass(STEP_MS)) {
      if (this.#nowMs > untilMs) throw new Error(`not within an hour: ${what}`);
      await sleep(STEP_TAKES_MS);
    }
  }

  /** Time passes without callbacks: the process was suspended. */
  freeze(ms: number): void {
    this.#nowMs += ms;
  }
}
