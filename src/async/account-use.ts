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
  /** When it began, by the clock; later by as much as it has waited. */
  readonly since: number;
}

interface UseUnderWay extends Use {
  since: number;
  /** When it began to wait for something that others have. */
  waitsSince: number | undefined;
}

/** So many milliseconds used, as of `at`. */
interface Used {
  usedMs: number;
  at: number;
}

interface Account extends Used {
  slowUntil: number;
  /** The last piece of its work that has ended did not take too long. */
  quick: boolean;
  readonly running: Set<UseUnderWay>;
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
 * whose turn it is. Long ago counts little, so that nobody saves anything up; and who arrives after a time away begins
 * level with those who are about, as in start-time fair queueing (Goyal, Vin and Cheng, 1996): otherwise a crowd of new
 * accounts would go first until each of them had had as much as whoever was there before.
 */
export class AccountUse {
  readonly #slowMs: number;
  readonly #strangerMs: number;
  readonly #halfLifeMs: number;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  /** The most that any had used who has begun something, at that moment: those who are about are there, or beyond. */
  readonly #level: Used = { usedMs: 0, at: 0 };
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

  /**
   * An account asks for its turn. With nothing under way and nothing waiting it begins level with those who are about, and
   * has no part in what they had while it was away.
   *
   * @param waiting those that wait for their turns.
   */
  arrive(account: string, ...waiting: readonly Iterable<{ readonly account: string }>[]): void {
    const now = this.#now();
    const level = this.#left(this.#level, now);
    if (level < NEGLIGIBLE_MS) return;
    const known = this.#accounts.get(account);
    if (known !== undefined && (known.running.size > 0 || this.#left(known, now) >= level)) return;
    for (const queue of waiting) for (const one of queue) if (one.account === account) return;
    Object.assign(known ?? this.#add(account, now), { usedMs: level, at: now });
  }

  begin(account: string): Use {
    const now = this.#now();
    const known = this.#accounts.get(account) ?? this.#add(account, now);
    const level = Math.max(this.#left(this.#level, now), this.#usedBy(known, now));
    Object.assign(this.#level, { usedMs: level, at: now });
    const use: UseUnderWay = { account, since: now, waitsSince: undefined };
    known.running.add(use);
    return use;
  }

  /** It waits for something that others have: until it goes on it uses nothing, and does not become slow. */
  pause(use: Use): void {
    const own = this.#underWay(use);
    if (own !== undefined) own.waitsSince ??= this.#now();
  }

  resume(use: Use): void {
    const own = this.#underWay(use);
    if (own?.waitsSince === undefined) return;
    own.since += this.#now() - own.waitsSince;
    own.waitsSince = undefined;
  }

  end(use: Use): void {
    this.resume(use);
    const known = this.#accounts.get(use.account);
    const own = this.#underWay(use);
    if (known === undefined || own === undefined) return;
    known.running.delete(own);
    const now = this.#now();
    known.usedMs = this.#left(known, now) + now - use.since;
    known.at = now;
    known.quick = now - use.since <= this.#slowMs;
    if (!known.quick) known.slowUntil = now + SLOW_FOR_MS;
  }

  /** Milliseconds that the account has used lately, with what is under way. */
  of(account: string): number {
    const known = this.#accounts.get(account);
    if (known === undefined) return this.#strangerMs;
    return this.#usedBy(known, this.#now());
  }

  /** Whether a piece of its work takes too long, or did within the last minute. */
  isSlow(account: string): boolean {
    const known = this.#accounts.get(account);
    if (known === undefined) return false;
    const now = this.#now();
    if (known.slowUntil > now) return true;
    for (const use of known.running) if (took(use, now) > this.#slowMs) return true;
    return false;
  }

  /** Whether it has something under way, and all of that waits for something that others have. */
  isHeldUp(account: string): boolean {
    const running = this.#accounts.get(account)?.running;
    return (
      running !== undefined && running.size > 0 && [...running].every((use) => use.waitsSince !== undefined)
    );
  }

  /** Whether its last piece of work has shown that it is not slow: of a stranger nobody knows. */
  isQuick(account: string): boolean {
    return this.#accounts.get(account)?.quick === true && !this.isSlow(account);
  }

  #underWay(use: Use): UseUnderWay | undefined {
    const own = use as UseUnderWay;
    return this.#accounts.get(use.account)?.running.has(own) ? own : undefined;
  }

  #add(account: string, now: number): Account {
    if (this.#accounts.size >= this.#lookAroundAt) this.#forget(now);
    const added: Account = { usedMs: 0, at: now, slowUntil: 0, quick: false, running: new Set() };
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

  #usedBy(account: Account, now: number): number {
    let used = this.#left(account, now);
    for (const use of account.running) used += took(use, now);
    return used;
  }

  /** What counts now of what was used. */
  #left({ usedMs, at }: Used, now: number): number {
    return usedMs * 2 ** ((at - now) / this.#halfLifeMs);
  }
}

/** Milliseconds that a piece of work has gone on so far, without what it has waited. */
function took({ since, waitsSince }: UseUnderWay, now: number): number {
  return (waitsSince ?? now) - since;
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

/**
 * The same for room beyond what there is, which those have who hold nothing and are not slow: who has shown that it is quick
 * goes before strangers.
 *
 * @param pace tells who is slow, and who is quick.
 */
export function nextAtSpare<T extends { readonly account: string }>(
  waiting: ReadonlySet<T>,
  use: Pick<AccountUse, 'of'>,
  pace: Pick<AccountUse, 'isSlow' | 'isQuick'>,
  holdsNothing: (account: string) => boolean,
): T | undefined {
  const mayStart = (account: string) => holdsNothing(account) && !pace.isSlow(account);
  const isQuick = (account: string) => mayStart(account) && pace.isQuick(account);
  return nextTurn(waiting, use, isQuick) ?? nextTurn(waiting, use, mayStart);
}
