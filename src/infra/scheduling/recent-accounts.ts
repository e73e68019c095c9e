/** Accounts that have done something within a time window. */
export class RecentAccounts {
  readonly #windowMs: number;
  /** The time of each account's last note, oldest first. */
  readonly #at = new Map<string, number>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** @param now milliseconds of a clock that never goes back; the same for the other methods. */
  note(account: string, now: number): void {
    this.#at.delete(account);
    this.#at.set(account, now);
    this.#forget(now);
  }

  /** Whether an account other than this one was noted within the window. */
  hasOther(account: string, now: number): boolean {
    this.#forget(now);
    return this.#at.size > Number(this.#at.has(account));
  }

  /** Whether an account for which `counts` holds was noted within the window. Removes earlier ones where not. */
  some(counts: (account: string) => boolean, now: number): boolean {
    this.#forget(now);
    for (const account of this.#at.keys()) {
      if (counts(account)) return true;
      this.#at.delete(account);
    }
    return false;
  }

  #forget(now: number): void {
    for (const [account, at] of this.#at) {
      if (at >= now - this.#windowMs) return;
      this.#at.delete(account);
    }
  }
}
