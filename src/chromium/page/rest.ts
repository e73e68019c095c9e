import type { PageProcess } from './page-process.ts';

/** What a page may compute while it is at rest: as much at once, in milliseconds of processor time, */
const BURST_MS = 100;
/** and this part of a core all the while. */
const SHARE = 0.05;

/** A page whose processor time can be told, while its process is known. */
export interface MeasuredPage {
  readonly process: Pick<PageProcess, 'processorMs'> | undefined;
}

/**
 * Holds a page that rests to it: one that begins to compute is noticed by the processor time of its process, whether or
 * not it answers, and however it divides up what it does.
 */
export class Rest {
  readonly #page: MeasuredPage;
  readonly #onChange: (change: 1 | -1) => void;
  readonly #now: () => number;
  #resting = false;
  #leftMs = BURST_MS;
  #at = 0;
  #used: number | undefined;

  /**
   * @param onChange told when the page begins to rest (1), and when it ends that (-1).
   * @param now milliseconds of a clock that never goes back.
   */
  constructor(
    page: MeasuredPage,
    onChange: (change: 1 | -1) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#page = page;
    this.#onChange = onChange;
    this.#now = now;
  }

  get resting(): boolean {
    return this.#resting;
  }

  /** Whether it can be told from outside of the page what that computes. */
  get measured(): boolean {
    return this.#used !== undefined;
  }

  begin(): void {
    this.#at = this.#now();
    this.#used = this.#page.process?.processorMs();
    if (!this.#resting) this.#onChange(1);
    this.#resting = true;
  }

  end(): void {
    if (this.#resting) this.#onChange(-1);
    this.#resting = false;
  }

  /** Whether the page has computed more since the last look than one that rests may. False where that is not known. */
  exceeded(): boolean {
    const used = this.#page.process?.processorMs();
    const [at, before] = [this.#at, this.#used];
    this.#at = this.#now();
    this.#used = used;
    if (used === undefined || before === undefined) return false;
    const left = Math.min(BURST_MS, this.#leftMs + (this.#at - at) * SHARE) - (used - before);
    this.#leftMs = Math.max(0, left);
    return left < 0;
  }
}
