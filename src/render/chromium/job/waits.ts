import type { Findings } from '../../report/findings.ts';
import type { CancelScope } from '../cancel-scope.ts';
import type { CorePolicy } from '../cpu/core-policy.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { JobDocument } from './document/job-document.ts';

/** With `bestEffort`, waits leave this part of a render's time to the later steps, at most 5 seconds. */
const LEFT_BY_WAITS = 0.25;
const MOST_LEFT_BY_WAITS_MS = 5000;

/** The render that waits. */
export interface WaitingRender {
  readonly page: RenderPage;
  readonly core: CorePolicy;
  readonly document: JobDocument;
  readonly end: CancelScope;
  readonly findings?: Findings | undefined;
}

/** The waits of a render before it is printed. With `bestEffort` they end before the deadline of the render. */
export class Waits {
  readonly #render: WaitingRender;
  /** The end of the waits: the end of the render, or an earlier one. */
  readonly end: CancelScope;

  constructor(render: WaitingRender) {
    this.#render = render;
    const { end, document } = render;
    const leavesMs = Math.min(MOST_LEFT_BY_WAITS_MS, LEFT_BY_WAITS * (end.deadline - Date.now()));
    this.end = document.settings.bestEffort ? end.endOfWaits(leavesMs) : end;
  }

  /** Whether a wait was ended for lack of time. Its work may continue in the page, which is then not used again. */
  get over(): boolean {
    return this.end !== this.#render.end && this.end.error !== undefined;
  }

  /**
   * Waits for `step`, at most until the end of the waits, and reports the duration as `name`.
   *
   * @param step resolves to false when it has given up by itself.
   * @param mayBeGivenUp called when the time is over; if it returns false, the wait continues until the render's
   *   deadline.
   */
  async until(name: string, step: () => Promise<unknown>, mayBeGivenUp = () => true): Promise<void> {
    let isReached = true;
    const wait = async () => {
      isReached = (await this.#watch(step(), mayBeGivenUp)) !== false;
    };
    await (this.#render.findings?.timed(name, wait, () => this.over || !isReached) ?? wait());
  }

  async #watch(step: Promise<unknown>, mayBeGivenUp: () => boolean): Promise<unknown> {
    const { core, end, page } = this.#render;
    try {
      return await core.step('wait', step, this.end);
    } catch (error) {
      if (!this.over || error !== this.end.error || end.error !== undefined) throw error;
      // Loading is stopped, since Chromium does not print before it has ended.
      return await core.step<unknown>('wait', mayBeGivenUp() ? page.session.send('Page.stopLoading') : step);
    }
  }
}
