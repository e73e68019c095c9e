import { RENDER_PHASES, type RenderPhase, type RenderReport } from '../../report/phases.ts';

/** Collects the report of a render. Phases are timed one after another. */
export class ReportCollector {
  /** Epoch milliseconds. */
  readonly startedAt = Date.now();
  readonly #phases: Record<RenderPhase, number> = { page: 0, load: 0, wait: 0, print: 0, finish: 0 };
  #last = performance.now();
  /** Number of phases that have ended. */
  #ended = 0;

  /** Ends `phase`, which began when the previous phase ended. */
  lap(phase: RenderPhase): void {
    const now = performance.now();
    this.#phases[phase] += now - this.#last;
    this.#last = now;
    this.#ended = RENDER_PHASES.indexOf(phase) + 1;
  }

  /** Ends the phase in progress, because the render has failed in it. */
  fail(): RenderReport {
    const underWay = RENDER_PHASES[this.#ended];
    if (underWay !== undefined) this.lap(underWay);
    return this.report;
  }

  /** The report as collected so far. */
  get report(): RenderReport {
    return { phases: { ...this.#phases } };
  }
}
