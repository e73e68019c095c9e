import type { PageProcess } from '../contexts/page/page-process.ts';
import { BlockedBudget, BURST_MS, SHARE } from './blocked-budget.ts';

/** A page whose processor time can be told, while its process is known. */
export interface MeasuredPage {
  readonly process: Pick<PageProcess, 'processorMs'> | undefined;
}

/**
 * Holds a blocked page to that: one that begins to compute is noticed by the processor time of its process, whether or
 * not it answers, and however it divides up what it does.
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
   * @param onChange told when the page begins to be blocked (1), and when it ends that (-1).
   * @param now milliseconds of a clock that never goes back.
   * @param budget of its account, asked for when the page begins to be blocked.
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

  /** Whether it can be told from outside of the page what that computes. */
  get measured(): boolean {
    return this.#used !== undefined;
  }

  begin(): void {
    this.#at = this.#now();
    this.#used = this.#page.process?.processorMs();
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

  /** The page is known to begin to compute now, before it has been seen to: the next look finds that it has exceeded. */
  disturb(): void {
    if (this.#active) this.#begins = true;
  }

  /** Whether the page has computed more since the last look than a blocked one may. False where that is not known. */
  exceeded(): boolean {
    const begins = this.#begins;
    this.#begins = false;
    const used = this.#page.process?.processorMs();
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
