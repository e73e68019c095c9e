/** Findings, one line each, and counters. */
export class Findings {
  readonly lines: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #rejections = new Map<string, number>();

  /** @param about the key of a submission, or the name of an account or a process. */
  add(about: string, what: string): void {
    this.lines.push(`${about}: ${what}`);
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** A request of the account got a temporary 503: it is counted as a failed request, too. */
  refused(account: string): void {
    this.#rejections.set(account, this.rejectionsOf(account) + 1);
  }

  rejectionsOf(account: string): number {
    return this.#rejections.get(account) ?? 0;
  }

  /** `200 × 310, 202 × 290` */
  counted(): string {
    return [...this.#counts]
      .sort()
      .map(([what, times]) => `${what} × ${times}`)
      .join(', ');
  }
}
