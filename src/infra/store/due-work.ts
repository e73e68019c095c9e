import type { Due, DueQueue } from './due-queue.ts';

/** Bounds on the attempts under way, so that no owner takes what belongs to others. */
export interface DueBounds<T> {
  /** How many more attempts may begin. */
  free(): number;
  /** At most `limit` records that are due, the longest due first, without those whose owners are at their bounds. */
  due(limit: number): Promise<T[]>;
  /** @returns undefined when a bound is reached. */
  reserve(seen: T): { release(): void } | undefined;
}

/** What is done with the records of a queue. Leases and the waits after failures are settings of the queue. */
interface DueWorkPolicy<T extends Due, R, C extends T> {
  readonly queue: DueQueue<T>;
  /** The most records that one query finds. */
  readonly perQuery: number;
  /** The most attempts of one pass at the same time; default 1. */
  readonly atOnce?: number;
  /** Default none. */
  readonly bounds?: DueBounds<T>;
  /** Default `queue.claim`. @returns undefined for a record that is left out. */
  readonly claim?: (seen: T) => Promise<C | undefined>;
  /** Whether the claim is renewed during an attempt; default false, for attempts that always end within the lease. */
  readonly renews?: boolean;
  /** Ends the claim by the queue, or it is due again after the lease. @param signal a stop waits no longer. */
  readonly attempt: (claimed: C, signal: AbortSignal) => Promise<R>;
  /** Follows an attempt that throws, and may end the claim. Default: the pass ends. Required for `keepUp`. */
  readonly onError?: (error: unknown, claimed: C) => R | Promise<R>;
}

/** Queries of one call of `keepUp`; what is due beyond them is for the next call. */
const MOST_QUERIES = 100;

/**
 * The loop over a due-queue:
 *
 *     due ─reserve→ ─claim→ ─attempt→ ends the claim: at rest, deleted, or due later
 *                               └→ throws: `onError`, or the lease ends
 *
 * A record that another process claims first is left out. `pass` is for sweeps, which wait for what they do; `keepUp`
 * is for long attempts, of which some must not hold up others.
 */
export class DueWork<T extends Due, R = void, C extends T = T> {
  readonly #policy: DueWorkPolicy<T, R, C>;
  readonly #bounds: DueBounds<T>;
  readonly #abort = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #stopping = false;
  /** The queries of `keepUp` that are under way, and whether others are to follow them. */
  #filling: Promise<void> | undefined;
  #again = false;
  #foundNone = false;

  constructor(policy: DueWorkPolicy<T, R, C>) {
    this.#policy = policy;
    this.#bounds = policy.bounds ?? {
      free: () => Number.POSITIVE_INFINITY,
      due: (limit) => policy.queue.due(limit),
      reserve: () => ({ release: () => undefined }),
    };
  }

  /** Whether the last query of `keepUp` has found nothing due. */
  get foundNone(): boolean {
    return this.#foundNone;
  }

  /**
   * Attempts what one query finds, the longest due first, and waits for it.
   *
   * @returns the results for the records that this process has claimed.
   * @throws the error of an attempt, when no other is under way. One at a time, the records after it are left as they
   * are.
   */
  pass(): Promise<R[]> {
    return this.#noted(this.#pass());
  }

  /** Begins what is due, up to the bounds, and does not wait for it; more follows as attempts end. */
  async keepUp(): Promise<void> {
    this.#again = true;
    while (this.#filling !== undefined) await this.#filling;
    if (!this.#again) return;
    this.#again = false;
    this.#filling = this.#noted(this.#fill()).finally(() => {
      this.#filling = undefined;
    });
    await this.#filling;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Begins nothing more; attempts have `graceMs` milliseconds before their signal aborts. Resolves when idle. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    await this.idle();
    clearTimeout(timer);
  }

  async #pass(): Promise<R[]> {
    const { perQuery, atOnce = 1 } = this.#policy;
    const results: R[] = [];
    // Shared, so that each takes the next record that no other has taken.
    const due = (await this.#bounds.due(perQuery)).values();
    const inTurn = async () => {
      for (const seen of due) {
        const begun = await this.#begin(seen);
        if (begun !== undefined) results.push(await begun.ended);
      }
    };
    const ends = Array.from({ length: atOnce }, inTurn);
    await Promise.allSettled(ends);
    await Promise.all(ends);
    return results;
  }

  async #fill(): Promise<void> {
    const bounds = this.#bounds;
    this.#foundNone = false;
    for (let queries = 0; queries < MOST_QUERIES && !this.#stopping && bounds.free() > 0; queries += 1) {
      const limit = Math.min(bounds.free(), this.#policy.perQuery);
      const due = await bounds.due(limit);
      this.#foundNone = due.length === 0;
      let count = 0;
      for (const seen of due) {
        const begun = await this.#begin(seen);
        if (begun === undefined) continue;
        count += 1;
        void this.#noted(this.#follow(begun.claimed, begun.ended));
      }
      // If nothing of a full page could begin, others have claimed it: more may follow after it.
      if (count === 0 && due.length < limit) return;
    }
  }

  async #follow(claimed: C, ended: Promise<R>): Promise<void> {
    try {
      await ended;
      if (!this.#stopping) await this.keepUp();
    } catch (error) {
      await this.#policy.onError?.(error, claimed);
    }
  }

  /** @returns undefined when the record is left out; otherwise its attempt, wrapped, so that nothing waits for it. */
  async #begin(seen: T): Promise<{ readonly claimed: C; readonly ended: Promise<R> } | undefined> {
    const { queue, claim = (one) => queue.claim(one) as Promise<C | undefined> } = this.#policy;
    const reservation = this.#stopping ? undefined : this.#bounds.reserve(seen);
    if (reservation === undefined) return undefined;
    let claimed: C | undefined;
    try {
      claimed = await claim(seen);
    } finally {
      if (claimed === undefined) reservation.release();
    }
    return claimed && { claimed, ended: this.#attempt(claimed).finally(() => reservation.release()) };
  }

  async #attempt(claimed: C): Promise<R> {
    const { queue, renews = false, attempt, onError } = this.#policy;
    const once = () => attempt(claimed, this.#abort.signal);
    try {
      return await (renews ? queue.holding(claimed, once) : once());
    } catch (error) {
      if (onError === undefined) throw error;
      return onError(error, claimed);
    }
  }

  #noted<P>(work: Promise<P>): Promise<P> {
    const noted = work.finally(() => this.#underWay.delete(noted));
    this.#underWay.add(noted);
    return noted;
  }
}
