export interface AccountUseOptions {
  /** A piece of work that takes longer makes its account slow, in milliseconds. */
  readonly slowMs: number;
  /** What an account counts as having used of which nothing is known, in milliseconds; default as much as is not slow yet. */
  readonly strangerMs?: number;
  /** What was used counts half after so many milliseconds; 30 s unless said otherwise. */
  readonly halfLifeMs?: number;
  /** Milliseconds of a clock that never goes back; the process's own unless said otherwise. */
  readonly now?: () => number;
}

/** A piece of work under way. */
export interface Use {
  readonly account: string;
  /** When it began, by the clock. */
  readonly since: number;
}

interface Account {
  /** Milliseconds used, as of `at`. */
  usedMs: number;
  at: number;
  slowUntil: number;
  readonly running: Set<Use>;
}

/** What was used counts half after this, unless said otherwise. */
const HALF_LIFE_MS = 30_000;
/** How long an account is slow after its last slow work has ended. */
const SLOW_FOR_MS = 60_000;
/** Less than this is forgotten. */
const NEGLIGIBLE_MS = 1;
const LOOK_AROUND_AT = 1000;

/**
 * How much of something shared (processes, slots) each account has had lately, and whether its work is slow: what decides
 * whose turn it is. Long ago counts little, so that nobody saves anything up.
 */
export class AccountUse {
  readonly #slowMs: number;
  readonly #strangerMs: number;
  readonly #halfLifeMs: number;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  #lookAroundAt = LOOK_AROUND_AT;

  constructor({
    slowMs,
    strangerMs = slowMs,
    halfLifeMs = HALF_LIFE_MS,
    now = () => performance.now(),
  }: AccountUseOptions) {
    this.#slowMs = slowMs;
    this.#strangerMs = strangerMs;
    this.#halfLifeMs = halfLifeMs;
    this.#now = now;
  }

  begin(account: string): Use {
    const now = this.#now();
    const known = this.#accounts.get(account) ?? this.#add(account, now);
    const use: Use = { account, since: now };
    known.running.add(use);
    return use;
  }

  end(use: Use): void {
    const known = this.#accounts.get(use.account);
    if (known?.running.delete(use) !== true) return;
    const now = this.#now();
    known.usedMs = this.#left(known, now) + now - use.since;
    known.at = now;
    if (now - use.since > this.#slowMs) known.slowUntil = now + SLOW_FOR_MS;
  }

  /** Milliseconds that the account has used lately, with what is under way. */
  of(account: string): number {
    const known = this.#accounts.get(account);
    if (known === undefined) return this.#strangerMs;
    const now = this.#now();
    let used = this.#left(known, now);
    for (const { since } of known.running) used += now - since;
    return used;
  }

  /** Whether a piece of its work takes too long, or did within the last minute. */
  isSlow(account: string): boolean {
    const known = this.#accounts.get(account);
    if (known === undefined) return false;
    const now = this.#now();
    if (known.slowUntil > now) return true;
    for (const use of known.running) if (now - use.since > this.#slowMs) return true;
    return false;
  }

  #add(account: string, now: number): Account {
    if (this.#accounts.size >= this.#lookAroundAt) this.#forget(now);
    const added: Account = { usedMs: 0, at: now, slowUntil: 0, running: new Set() };
    this.#accounts.set(account, added);
    return added;
  }

  /** Looks at all accounts, once for as many new ones as are kept. */
  #forget(now: number): void {
    for (const [name, account] of this.#accounts) {
      const nothing = this.#left(account, now) < NEGLIGIBLE_MS && account.slowUntil <= now;
      if (nothing && account.running.size === 0) this.#accounts.delete(name);
    }
    this.#lookAroundAt = Math.max(LOOK_AROUND_AT, 2 * this.#accounts.size);
  }

  /** What counts now of what the account had used. */
  #left({ usedMs, at }: Account, now: number): number {
    return usedMs * 2 ** ((at - now) / this.#halfLifeMs);
  }
}

/** The first of those whose account has used least. @param waiting in the order in which they came. */
export function nextTurn<T extends { readonly account: string }>(
  waiting: Iterable<T>,
  use: Pick<AccountUse, 'of'>,
  mayStart: (account: string) => boolean = () => true,
): T | undefined {
  const seen = new Set<string>();
  let next: T | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of waiting) {
    if (seen.has(one.account)) continue;
    seen.add(one.account);
    if (!mayStart(one.account)) continue;
    const used = use.of(one.account);
    if (used < least) [next, least] = [one, used];
  }
  return next;
}
