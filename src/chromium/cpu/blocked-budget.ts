/** What a page may compute while it is blocked: as much at once, in milliseconds of processor time, */
export const BURST_MS = 100;
/** and this part of a core all the while. */
export const SHARE = 0.05;

/**
 * What all blocked pages of one account may compute: each its part of a core all the while, and together as much at once as
 * one of them. By itself each would have that at once, of sixteen that begin at the same moment.
 */
export class BlockedBudget {
  readonly #now: () => number;
  readonly #onEmpty: () => void;
  #pages = 0;
  #leftMs = BURST_MS;
  #at: number;

  /**
   * @param now milliseconds of a clock that never goes back.
   * @param onEmpty called when no page is blocked any more.
   */
  constructor(now: () => number = () => performance.now(), onEmpty: () => void = () => undefined) {
    this.#now = now;
    this.#at = now();
    this.#onEmpty = onEmpty;
  }

  /** A page begins to be blocked. */
  enter(): void {
    this.#refill();
    this.#pages++;
  }

  /** A page is blocked no longer. */
  leave(): void {
    this.#refill();
    if (--this.#pages === 0) this.#onEmpty();
  }

  /** Counts what one of the pages has computed, in milliseconds. @returns whether all together have computed too much. */
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

/** Renders that wait for something else than a core. */
export class BlockedRenders {
  readonly #budgets = new Map<string, BlockedBudget>();
  readonly #onChange: (renders: number) => void;
  #count = 0;

  /** @param onChange called with how many they are, whenever that changes. */
  constructor(onChange: (renders: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** Counts a render in (1) or out (-1). */
  count(change: 1 | -1): void {
    this.#count += change;
    this.#onChange(this.#count);
  }

  /** The budget of an account, for a page of it that enters at once: it is forgotten when none is blocked any more. */
  budgetOf(account: string): BlockedBudget {
    const known = this.#budgets.get(account);
    if (known !== undefined) return known;
    const budget = new BlockedBudget(undefined, () => this.#budgets.delete(account));
    this.#budgets.set(account, budget);
    return budget;
  }
}
