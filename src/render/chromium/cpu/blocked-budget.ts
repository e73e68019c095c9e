/** Processor time that a blocked page may use at once, in milliseconds, */
export const BURST_MS = 100;
/** and the part of a core that it may use continuously. */
export const SHARE = 0.05;

/**
 * Processor time that all blocked pages of one account may use: continuously each page its share of a core, and at once
 * all together no more than a single page. Otherwise sixteen pages that begin at the same moment could each use that
 * amount at once.
 */
export class BlockedBudget {
  readonly #now: () => number;
  readonly #onEmpty: () => void;
  #pages = 0;
  #leftMs = BURST_MS;
  #at: number;

  /** @param now milliseconds, never going back. @param onEmpty called when no page is blocked any more. */
  constructor(now: () => number = () => performance.now(), onEmpty: () => void = () => undefined) {
    this.#now = now;
    this.#at = now();
    this.#onEmpty = onEmpty;
  }

  enter(): void {
    this.#refill();
    this.#pages++;
  }

  leave(): void {
    this.#refill();
    if (--this.#pages === 0) this.#onEmpty();
  }

  /** Counts processor time of one of the pages, in milliseconds. @returns whether all together have used too much. */
  spend(ms: number): boolean {
    this.#refill();
    const left = this.#leftMs - ms;
    this.#leftMs = Math.max(0, left);
    return left < 0;
  }

  #refill(): void {
    const now = this.#now();
    const more = (now - this.#at) * SHARE * this.#pages;
    this.#at = now;
    this.#leftMs = Math.min(BURST_MS, this.#leftMs + more);
  }
}

/** Renders that wait for something other than a core. */
export class BlockedRenders {
  readonly #budgets = new Map<string, BlockedBudget>();
  readonly #onChange: (renders: number) => void;
  #count = 0;

  /** @param onChange called with the number of renders, when it changes. */
  constructor(onChange: (renders: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** Adds (1) or removes (-1) a render. */
  count(change: 1 | -1): void {
    this.#count += change;
    this.#onChange(this.#count);
  }

  /** The budget of an account, for a page that enters it now; removed when none of its pages is blocked. */
  budgetOf(account: string): BlockedBudget {
    const known = this.#budgets.get(account);
    if (known !== undefined) return known;
    const budget = new BlockedBudget(undefined, () => this.#budgets.delete(account));
    this.#budgets.set(account, budget);
    return budget;
  }
}
