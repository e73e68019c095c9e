import type { Timers } from '../../async/timers.ts';

/** Calls back once when nothing has arrived for too long. */
export class Watchdog {
  readonly #timers: Timers;
  readonly #silenceMs: number;
  readonly #onSilence: () => void;
  #heardAtMs: number;
  #cancel: () => void;

  constructor(timers: Timers, silenceMs: number, onSilence: () => void) {
    this.#timers = timers;
    this.#silenceMs = silenceMs;
    this.#onSilence = onSilence;
    this.#heardAtMs = timers.nowMs();
    this.#cancel = timers.after(silenceMs, () => this.#check());
  }

  /** Cheap: it may be called for every chunk that arrives. */
  heard(): void {
    this.#heardAtMs = this.#timers.nowMs();
  }

  stop(): void {
    this.#cancel();
  }

  #check(): void {
    const leftMs = this.#heardAtMs + this.#silenceMs - this.#timers.nowMs();
    if (leftMs <= 0) this.#onSilence();
    else this.#cancel = this.#timers.after(leftMs, () => this.#check());
  }
}
