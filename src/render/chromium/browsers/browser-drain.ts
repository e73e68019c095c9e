/** The limits within which the contexts of a replaced browser have to be moved to another one. */
export interface DrainLimits {
  /** Renders that the browser may still do after it was replaced. */
  readonly drainJobs: number;
  readonly drainMs: number;
}

/**
 * The period in which a replaced browser opens no new context. Its kept contexts are moved to another browser one by
 * one, and go on serving their accounts meanwhile.
 */
export class BrowserDrain {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly #limits: DrainLimits;
  readonly #jobsBefore: number;
  #moved = 0;

  /** @param jobs renders that the browser has begun so far. @param now epoch milliseconds. */
  constructor(limits: DrainLimits, jobs: number, now: number) {
    this.#limits = limits;
    this.#jobsBefore = jobs;
    this.startedAt = now;
  }

  /** Counts a context that has been moved. */
  moved(): void {
    this.#moved++;
  }

  /** Whether the browser has used up its time or its renders. */
  isOver(jobs: number, now: number): boolean {
    return this.#used(jobs, now) >= 1;
  }

  /** Whether fewer contexts have been moved than the time and the renders used so far require. */
  isBehind(left: number, jobs: number, now: number): boolean {
    return this.#moved < this.#used(jobs, now) * (this.#moved + left);
  }

  /** The used part of the limit that is nearer to its end: 0 at the start, 1 at the end. */
  #used(jobs: number, now: number): number {
    const { drainJobs, drainMs } = this.#limits;
    return Math.max((jobs - this.#jobsBefore) / drainJobs, (now - this.startedAt) / drainMs);
  }
}
