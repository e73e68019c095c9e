import type { ProcessorSample } from '../page/page-process.ts';
import { BlockedBudget, BURST_MS, SHARE } from './blocked-budget.ts';

/** A page whose processor time can be measured while its process is known. */
interface MeasuredPage {
  readonly process: { sample(): Pick<ProcessorSample, 'processorMs'> | undefined } | undefined;
}

/**
 * Checks that a blocked page does not compute: it is measured by the processor time of its process, whether or not the
 * page responds, and however it divides up its work.
 */
export class BlockedTime {
  readonly #page: MeasuredPage;
  readonly #onChange: (change: 1 | -1) => void;
  readonly #now: () => number;
  readonly #budget: () => BlockedBudget;
  #together: BlockedBudget | undefined;
  #active = false;
  #begins = false;
  #leftMs = BURST_MS;
  #at = 0;
  #used: number | undefined;

  /**
   * @param onChange called when the page begins (1) or ceases (-1) to be blocked.
   * @param now milliseconds of a clock that never goes back.
   * @param budget returns the budget of its account, called when the page begins to be blocked.
   */
  constructor(
    page: MeasuredPage,
    onChange: (change: 1 | -1) => void,
    now: () => number = () => performance.now(),
    budget: () => BlockedBudget = () => new BlockedBudget(now),
  ) {
    this.#page = page;
    this.#onChange = onChange;
    this.#now = now;
    this.#budget = budget;
  }

  get active(): boolean {
    return this.#active;
  }

  begin(): void {
    this.#at = this.#now();
    this.#used = this.#page.process?.sample()?.processorMs;
    if (!this.#active) {
      this.#onChange(1);
      this.#together = this.#budget();
      this.#together.enter();
    }
    this.#active = true;
  }

  end(): void {
    if (this.#active) {
      this.#onChange(-1);
      this.#together?.leave();
    }
    this.#active = false;
    this.#begins = false;
  }

  /** Notes that the page is about to compute, before that can be measured: the next check then returns true. */
  disturb(): void {
    if (this.#active) this.#begins = true;
  }

  /** Whether the page has computed more since the last check than a blocked one may; false if unknown. */
  exceeded(): boolean {
    const begins = this.#begins;
    this.#begins = false;
    const used = this.#page.process?.sample()?.processorMs;
    const [at, before] = [this.#at, this.#used];
    this.#at = this.#now();
    this.#used = used;
    if (used === undefined || before === undefined) return false;
    const [spent, share] = [used - before, (this.#at - at) * SHARE];
    const left = Math.min(BURST_MS, this.#leftMs + share) - spent;
    this.#leftMs = Math.max(0, left);
    const tooMuchTogether = this.#together?.spend(spent) === true && spent > share;
    return begins || left < 0 || tooMuchTogether;
  }
}
