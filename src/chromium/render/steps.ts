import type { RenderPhase } from '../../report/phases.ts';
import type { RenderPage } from '../contexts/page/render-page.ts';
import type { ComputePermit } from '../cpu/compute-permit.ts';
import type { JobEnd } from './job-end.ts';
import type { ReportCollector } from './report-collector.ts';

/** What the steps of one render share. */
export interface StepDeps {
  /** Ends them early. */
  readonly end: JobEnd;
  /** Its core permit, with a core to begin with and none in the end. */
  readonly permit: ComputePermit;
  readonly collector: ReportCollector;
}

/**
 * Runs the steps of a render, one after another. Each begins with a core, and ends with its job at the latest.
 *
 * @throws PlatenError, each of the steps: the error that ended the job; or what the step rejects with.
 */
export class RenderSteps {
  readonly #page: RenderPage;
  readonly #deps: StepDeps;

  constructor(page: RenderPage, deps: StepDeps) {
    this.#page = page;
    this.#deps = deps;
  }

  /** Something that the page computes all the while. */
  compute<T>(step: Promise<T>): Promise<T> {
    const { permit, end } = this.#deps;
    return permit.keep(end.race(step), this.#page);
  }

  /**
   * Something that the page computes, or waits for.
   *
   * @param end that it ends with, where that is not the render's.
   */
  watch<T>(step: Promise<T>, end = this.#deps.end): Promise<T> {
    return this.#deps.permit.watch(this.#page, end.race(step));
  }

  /** Something that is computed outside of the page. */
  outside<T>(step: Promise<T>): Promise<T> {
    const { permit, end } = this.#deps;
    return permit.keep(end.race(step));
  }

  /** The last one, which goes on though the job ends, and after which the render has no core. */
  last<T>(step: Promise<T>): Promise<T> {
    return this.#deps.permit.keepToTheEnd(step);
  }

  /** Ends `phase`, which began when the one before it ended. */
  ended(phase: RenderPhase): void {
    this.#deps.collector.lap(phase);
  }
}
