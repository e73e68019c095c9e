import type { RenderPhase } from './renderer.ts';

/** Times the phases of a render, one after another. */
export class PhaseTimer {
  /** Epoch milliseconds. */
  readonly startedAt = Date.now();
  readonly phases: Record<RenderPhase, number> = { page: 0, load: 0, wait: 0, print: 0, finish: 0 };
  #last = performance.now();

  /** Ends `phase`, which began when the one before it ended. */
  lap(phase: RenderPhase): void {
    const now = performance.now();
    this.phases[phase] += now - this.#last;
    this.#last = now;
  }
}
