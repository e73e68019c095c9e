/** What is not as it should be, one line each, and what was counted beside it. */
export class Findings {
  readonly lines: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #refusals = new Map<string, number>();

  /** @param about the key of an order, the name of an account, or of a process. */
  add(about: string, what: string): void {
    this.lines.push(`${about}: ${what}`);
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** A request of the account was refused for the moment (503): that, too, is counted as a request that failed. */
  refused(account: string): void {
    this.#refusals.set(account, this.refusalsOf(account) + 1);
  }

  refusalsOf(account: string): number {
    return this.#refusals.get(account) ?? 0;
  }

  /** `200 × 310, 202 × 290` */
  counted(): string {
    return [...this.#counts]
      .sort()
      .map(([what, times]) => `${what} × ${times}`)
      .join(', ');
  }
}
