import type { RenderPhase } from '../../report/phases.ts';
import type { CancelScope } from '../cancel-scope.ts';
import type { ComputePermit } from '../cpu/compute-permit.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { ReportCollector } from './report-collector.ts';

/** Dependencies that the steps of one render share. */
export interface StepDeps {
  /** Ends the steps early. */
  readonly end: CancelScope;
  /** The render's permit to use a core: it has a core at the start and none in the end. */
  readonly permit: ComputePermit;
  readonly collector: ReportCollector;
}

/**
 * Runs the steps of a render, one after another. Each step begins with a core, and ends with its job at the latest.
 *
 * @throws PlatenError: the error that ended the job; or the rejection of the step.
 */
export class RenderSteps {
  readonly #page: RenderPage;
  readonly #deps: StepDeps;

  constructor(page: RenderPage, deps: StepDeps) {
    this.#page = page;
    this.#deps = deps;
  }

  /** Runs a step during which the page computes all the time. */
  compute<T>(step: Promise<T>): Promise<T> {
    const { permit, end } = this.#deps;
    return permit.keep(end.race(step), this.#page);
  }

  /**
   * Runs a step during which the page computes or waits.
   *
   * @param end ends the step early; by default the end of the render.
   */
  watch<T>(step: Promise<T>, end = this.#deps.end): Promise<T> {
    return this.#deps.permit.watch(this.#page, end.race(step));
  }

  /** Runs a step that computes outside of the page. */
  outside<T>(step: Promise<T>): Promise<T> {
    const { permit, end } = this.#deps;
    return permit.keep(end.race(step));
  }

  /** Runs the last step, which continues even if the job ends. Afterwards the render has no core. */
  last<T>(step: Promise<T>): Promise<T> {
    return this.#deps.permit.keepToTheEnd(step);
  }

  /** Ends `phase`, which began when the previous phase ended. */
  ended(phase: RenderPhase): void {
    this.#deps.collector.lap(phase);
  }
}
