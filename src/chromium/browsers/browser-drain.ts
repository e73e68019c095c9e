/** How far a browser's contexts may be moved behind its replacement. */
export interface DrainLimits {
  /** Renders that it may do beyond those after which it was replaced. */
  readonly drainJobs: number;
  readonly drainMs: number;
}

/**
 * The time in which a browser that has been replaced opens no context any more, and those that are kept in it are moved
 * to another browser one by one, while they go on serving their accounts.
 */
export class BrowserDrain {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly #limits: DrainLimits;
  readonly #jobsBefore: number;
  #moved = 0;

  /**
   * @param jobs renders that the browser has begun so far.
   * @param now epoch milliseconds.
   */
  constructor(limits: DrainLimits, jobs: number, now: number) {
    this.#limits = limits;
    this.#jobsBefore = jobs;
    this.startedAt = now;
  }

  /** Counts a context that has been moved. */
  moved(): void {
    this.#moved++;
  }

  /** Whether the browser has had all the time or all the renders that it may have. */
  isOver(jobs: number, now: number): boolean {
    return this.#used(jobs, now) >= 1;
  }

  /** Whether less than the part of the contexts has been moved that corresponds to the time and renders used. */
  isBehind(left: number, jobs: number, now: number): boolean {
    return this.#moved < this.#used(jobs, now) * (this.#moved + left);
  }

  /** What has been used up of its limits, of the one that is nearer: 0 at the start, 1 at the end. */
  #used(jobs: number, now: number): number {
    const { drainJobs, drainMs } = this.#limits;
    return Math.max((jobs - this.#jobsBefore) / drainJobs, (now - this.startedAt) / drainMs);
  }
}
