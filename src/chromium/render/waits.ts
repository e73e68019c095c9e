import type { Findings } from '../../report/findings.ts';
import type { RenderPage } from '../contexts/page/render-page.ts';
import type { JobDocument } from './document/job-document.ts';
import type { JobEnd } from './job-end.ts';
import type { RenderSteps } from './steps.ts';

/** Of the time that a render has left, what waits leave to the rest of it with `bestEffort`: a quarter, 5 seconds at most. */
const LEFT_BY_WAITS = 0.25;
const MOST_LEFT_BY_WAITS_MS = 5000;

/** The render whose waits they are. */
export interface WaitingJob {
  readonly document: JobDocument;
  readonly end: JobEnd;
  /** What is found out about it, where anybody asks for that. */
  readonly findings?: Findings | undefined;
}

/** What a render waits for before it is printed. With `bestEffort` its time is over before that of the render. */
export class Waits {
  readonly #page: RenderPage;
  readonly #job: WaitingJob;
  readonly #steps: RenderSteps;
  /** Of the waits: that of the render, or an earlier one. */
  readonly end: JobEnd;

  constructor(page: RenderPage, job: WaitingJob, steps: RenderSteps) {
    this.#page = page;
    this.#job = job;
    this.#steps = steps;
    const { end, document } = job;
    const leavesMs = Math.min(MOST_LEFT_BY_WAITS_MS, LEFT_BY_WAITS * (end.deadline - Date.now()));
    this.end = document.settings.bestEffort ? end.endOfWaits(leavesMs) : end;
  }

  /** Whether something was given up for lack of time. It may still go on in the page, which is no further use then. */
  get over(): boolean {
    return this.end !== this.#job.end && this.end.error !== undefined;
  }

  /**
   * Waits for `step`, no longer than there is time, and reports how long that took as `name`.
   *
   * @param mayBeGivenUp asked when the time is over; if not, it is waited for as long as the render may take.
   */
  async until(name: string, step: () => Promise<unknown>, mayBeGivenUp = () => true): Promise<void> {
    const wait = () => this.#watch(step(), mayBeGivenUp);
    await (this.#job.findings?.timed(name, wait, () => this.over) ?? wait());
  }

  async #watch(step: Promise<unknown>, mayBeGivenUp: () => boolean): Promise<void> {
    try {
      await this.#steps.watch(step, this.end);
    } catch (error) {
      if (!this.over || error !== this.end.error || this.#job.end.error !== undefined) throw error;
      // What has not come is stopped: Chromium does not print before it has.
      await this.#steps.watch<unknown>(mayBeGivenUp() ? this.#page.session.send('Page.stopLoading') : step);
    }
  }
}
