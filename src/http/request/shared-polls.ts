import type { Timers } from '../../infra/async/timers.ts';

/** How long the result of a poll is shared, in milliseconds. */
interface PollPace {
  /** While the resource changes. */
  readonly leastMs: number;
  /** While nothing changes the time doubles with every poll, up to this. */
  readonly mostMs: number;
}

interface SharedPoll<T> {
  readonly group: string;
  followers: number;
  /** When the last poll began, by the timers' clock. */
  at: number;
  /** How long its result is shared, in milliseconds. */
  sharedMs: number;
  result: Promise<T> | undefined;
  last: T | undefined;
  isPending: boolean;
  /** Whether the resource may have changed since the last poll began. */
  mayHaveChanged: boolean;
}

/**
 * Polls resources for all of their followers: the result for one follower is shared with the others until the next poll
 * is due. So a resource is polled once at a time, however many follow it, and less often while nothing changes.
 */
export class SharedPolls<T> {
  readonly #pace: PollPace;
  readonly #isSame: (one: T, other: T) => boolean;
  readonly #timers: Timers;
  readonly #polls = new Map<string, SharedPoll<T>>();
  readonly #groups = new Map<string, Set<SharedPoll<T>>>();

  /** @param isSame whether two results are the same. */
  constructor(pace: PollPace, isSame: (one: T, other: T) => boolean, timers: Timers) {
    this.#pace = pace;
    this.#isSame = isSame;
    this.#timers = timers;
  }

  /** Adds a follower until `leave`; the next poll is due at once. @param group for `notify`; may be shared. */
  join(resource: string, group: string): void {
    const known = this.#polls.get(resource);
    const { leastMs: sharedMs } = this.#pace;
    const none = {
      at: 0,
      sharedMs,
      result: undefined,
      last: undefined,
      isPending: false,
      mayHaveChanged: false,
    };
    const shared = known ?? { group, followers: 0, ...none };
    shared.followers += 1;
    this.#markChanged(shared);
    if (known !== undefined) return;
    this.#polls.set(resource, shared);
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(shared));
  }

  /** To be called once for each `join`. A resource without followers is forgotten. */
  leave(resource: string): void {
    const shared = this.#polls.get(resource);
    if (shared === undefined) return;
    shared.followers -= 1;
    if (shared.followers > 0) return;
    this.#polls.delete(resource);
    const group = this.#groups.get(shared.group);
    group?.delete(shared);
    if (group?.size === 0) this.#groups.delete(shared.group);
  }

  /** Notes that a resource of the group may have changed: the next poll is due as if it had. */
  notify(group: string): void {
    for (const shared of this.#groups.get(group) ?? []) this.#markChanged(shared);
  }

  /** The state of a resource, by `check` unless the last result is still shared. @throws what `check` throws. */
  poll(resource: string, check: () => Promise<T>): Promise<T> {
    const shared = this.#polls.get(resource);
    if (shared === undefined) return check();
    const { result, isPending, at, sharedMs } = shared;
    if (result !== undefined && (isPending || this.#timers.nowMs() - at < sharedMs)) return result;
    shared.at = this.#timers.nowMs();
    shared.isPending = true;
    shared.mayHaveChanged = false;
    const checking = check();
    shared.result = checking;
    checking.then(
      (found) => {
        shared.isPending = false;
        this.#setPace(shared, found);
      },
      () => {
        // An error is not shared: the next call polls again.
        shared.isPending = false;
        shared.result = undefined;
      },
    );
    return checking;
  }

  #setPace(shared: SharedPoll<T>, found: T): void {
    const { leastMs, mostMs } = this.#pace;
    const unchanged = shared.last !== undefined && this.#isSame(shared.last, found);
    shared.last = found;
    // The result may not include a change that happened during the poll.
    const isQuiet = unchanged && !shared.mayHaveChanged;
    shared.sharedMs = isQuiet ? Math.min(mostMs, shared.sharedMs * 2) : leastMs;
  }

  #markChanged(shared: SharedPoll<T>): void {
    shared.mayHaveChanged = true;
    shared.sharedMs = this.#pace.leastMs;
  }
}
