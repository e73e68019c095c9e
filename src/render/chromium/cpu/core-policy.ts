import type { CancelScope } from '../cancel-scope.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { ComputePermit } from './compute-permit.ts';

/**
 * What a step of a render does with the render's core:
 *
 * - `page`: the page computes all the time.
 * - `wait`: the page computes, or waits for something else.
 * - `outside`: something other than the page computes.
 * - `last`: as `outside`, even if the job ends meanwhile. Afterwards the render has no core.
 */
export type StepKind = 'page' | 'wait' | 'outside' | 'last';

/** Runs the steps of one render, each of which begins with a core. They run one after another. */
export class CorePolicy {
  readonly #page: RenderPage;
  readonly #permit: ComputePermit;
  readonly #end: CancelScope;

  /** @param permit has a core at the start, and none after the last step. */
  constructor(page: RenderPage, permit: ComputePermit, end: CancelScope) {
    this.#page = page;
    this.#permit = permit;
    this.#end = end;
  }

  /**
   * Waits for `work` as its kind requires.
   *
   * @param end ends every step but the last early; by default the end of the render.
   * @throws PlatenError: the error of `end`; or the rejection of `work`.
   */
  step<T>(kind: StepKind, work: Promise<T>, end = this.#end): Promise<T> {
    switch (kind) {
      case 'page':
        return this.#permit.keep(end.race(work), this.#page);
      case 'wait':
        return this.#permit.watch(this.#page, end.race(work));
      case 'outside':
        return this.#permit.keep(end.race(work));
      case 'last':
        return this.#permit.keepToTheEnd(work);
    }
  }
}
