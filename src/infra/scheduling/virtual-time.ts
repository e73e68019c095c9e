export interface UsageOptions {
  /** Work that takes longer makes its account slow, in milliseconds. Default: no work is slow. */
  readonly slowMs?: number;
  /** The half-life of usage, in milliseconds. Default 30,000. */
  readonly halfLifeMs?: number;
  /** Usage that an unknown account is given, in milliseconds. Default: that of the accounts being served. */
  readonly newcomerMs?: number | undefined;
  /** Charge for each piece of work, in milliseconds, however long it takes. Default: the time that it takes. */
  readonly costMs?: number;
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly now?: (() => number) | undefined;
}

/** A piece of work in progress, which is charged to its account. */
export interface Charge {
  readonly account: string;
  /** When the work began, in milliseconds of the clock, plus the time for which it was paused. */
  readonly since: number;
  /** Pauses the charge until `resume`, while the work waits for another resource; it does not become slow. */
  pause(): void;
  resume(): void;
  /** Ending it again changes nothing. */
  end(): void;
}

interface Work {
  since: number;
  readonly weight: number;
  pausedAt: number | undefined;
}

/** Milliseconds used, as of `at`. */
interface Used {
  usedMs: number;
  at: number;
}

interface Account extends Used {
  slowUntil: number;
  /** Whether its last finished piece of work was not slow. */
  quick: boolean;
  readonly running: Set<Work>;
}

const HALF_LIFE_MS = 30_000;
/** How long an account stays slow after its last slow work has ended, in milliseconds. */
const SLOW_FOR_MS = 60_000;
/** Accounts with less usage than this may be forgotten, in milliseconds. */
const NEGLIGIBLE_MS = 1;
/** Accounts without usage are removed when there are this many accounts, and again at twice the number that remain. */
const FORGET_AT = 1000;

/**
 * How much of a shared resource each account has used lately: the virtual time by which a FairQueue orders accounts.
 * Usage decays, so that accounts cannot save up credit. A new account begins with the usage of the accounts that are
 * being served, as in start-time fair queueing. Otherwise many new accounts would be served first until each had used
 * as much as the others.
 *
 * It also records which accounts have slow work, and whether an account's last work was quick.
 */
export class Usage {
  readonly #options: UsageOptions;
  readonly #slowMs: number;
  readonly #halfLifeMs: number;
  readonly #accounts = new Map<string, Account>();
  /** The usage that new accounts begin with: the highest usage of an account at the beginning of a piece of work. */
  readonly #level: Used = { usedMs: 0, at: 0 };
  #forgetAt = FORGET_AT;

  constructor(options: UsageOptions = {}) {
    this.#options = options;
    this.#slowMs = options.slowMs ?? Number.POSITIVE_INFINITY;
    this.#halfLifeMs = options.halfLifeMs ?? HALF_LIFE_MS;
  }

  now(): number {
    return this.#options.now?.() ?? performance.now();
  }

  /**
   * Called when an account without waiting requests sends one. If the account has no work in progress, its usage is
   * raised to that of the accounts that are being served.
   */
  arrive(account: string): void {
    const now = this.now();
    const level = this.#decayed(this.#level, now);
    if (level < NEGLIGIBLE_MS || this.#options.newcomerMs !== undefined) return;
    const known = this.#accounts.get(account);
    if (known !== undefined && (known.running.size > 0 || this.#decayed(known, now) >= level)) return;
    Object.assign(known ?? this.#add(account, now), { usedMs: level, at: now });
  }

  begin(account: string, weight = 1): Charge {
    const now = this.now();
    const known = this.#accounts.get(account) ?? this.#add(account, now);
    const used = this.#usedBy(known, now);
    Object.assign(this.#level, { usedMs: Math.max(this.#decayed(this.#level, now), used), at: now });
    const { costMs } = this.#options;
    if (costMs !== undefined) Object.assign(known, { usedMs: used + costMs * weight, at: now });
    const work: Work = { since: now, weight, pausedAt: undefined };
    known.running.add(work);
    return {
      account,
      get since() {
        return work.since;
      },
      pause: () => {
        work.pausedAt ??= this.now();
      },
      resume: () => this.#resume(work),
      end: () => this.#end(known, work),
    };
  }

  /** Milliseconds that the account has used lately, including work in progress. */
  of(account: string): number {
    const known = this.#accounts.get(account);
    return known === undefined ? (this.#options.newcomerMs ?? 0) : this.#usedBy(known, this.now());
  }

  /**
   * Orders accounts as `of` does, by a number that grows with usage and does not change as usage decays. The number is
   * a logarithm, because usage counts twice as much for each half-life by which it is later.
   */
  virtualTimeOf(account: string, now: number): number {
    const known = this.#accounts.get(account);
    if (known === undefined) return Math.log2(this.#options.newcomerMs ?? 0) + now / this.#halfLifeMs;
    if (known.running.size === 0) return Math.log2(known.usedMs) + known.at / this.#halfLifeMs;
    return Math.log2(this.#usedBy(known, now)) + now / this.#halfLifeMs;
  }

  /** Whether the account has slow work in progress, or had slow work that ended within the last minute. */
  isSlow(account: string): boolean {
    const known = this.#accounts.get(account);
    if (known === undefined) return false;
    const now = this.now();
    if (known.slowUntil > now) return true;
    for (const work of known.running) if (elapsed(work, now) > this.#slowMs) return true;
    return false;
  }

  /** Whether the account's last finished work was not slow and none is slow now; false for an unknown account. */
  isQuick(account: string): boolean {
    return this.#accounts.get(account)?.quick === true && !this.isSlow(account);
  }

  /** Whether the account has work in progress and all of it is paused. */
  isPaused(account: string): boolean {
    const running = [...(this.#accounts.get(account)?.running ?? [])];
    return running.length > 0 && running.every(({ pausedAt }) => pausedAt !== undefined);
  }

  #resume(work: Work): void {
    if (work.pausedAt === undefined) return;
    work.since += this.now() - work.pausedAt;
    work.pausedAt = undefined;
  }

  #end(account: Account, work: Work): void {
    this.#resume(work);
    if (!account.running.delete(work)) return;
    const now = this.now();
    Object.assign(account, { usedMs: this.#decayed(account, now) + this.#used([work], now), at: now });
    account.quick = now - work.since <= this.#slowMs;
    if (!account.quick) account.slowUntil = now + SLOW_FOR_MS;
  }

  #add(account: string, now: number): Account {
    if (this.#accounts.size >= this.#forgetAt) this.#forget(now);
    const added: Account = { usedMs: 0, at: now, slowUntil: 0, quick: false, running: new Set() };
    this.#accounts.set(account, added);
    return added;
  }

  #forget(now: number): void {
    for (const [name, account] of this.#accounts) {
      const unused = this.#decayed(account, now) < NEGLIGIBLE_MS && account.slowUntil <= now;
      if (unused && account.running.size === 0) this.#accounts.delete(name);
    }
    this.#forgetAt = Math.max(FORGET_AT, 2 * this.#accounts.size);
  }

  #usedBy(account: Account, now: number): number {
    return this.#decayed(account, now) + this.#used(account.running, now);
  }

  #used(running: Iterable<Work>, now: number): number {
    if (this.#options.costMs !== undefined) return 0;
    let used = 0;
    for (const work of running) used += work.weight * elapsed(work, now);
    return used;
  }

  #decayed({ usedMs, at }: Used, now: number): number {
    return usedMs * 2 ** ((at - now) / this.#halfLifeMs);
  }
}

/** Milliseconds that a piece of work has taken so far, without the time for which it was paused. */
function elapsed({ since, pausedAt }: Work, now: number): number {
  return (pausedAt ?? now) - since;
}
