import type { Timers } from '../async/timers.ts';

/** How long what was seen of a thing is handed on, in milliseconds. */
export interface LookPace {
  /** While the thing changes. */
  readonly leastMs: number;
  /** While nothing changes it doubles with every look, up to this. */
  readonly mostMs: number;
}

/** Those who follow the same thing, and what was seen of it last. */
interface Shared<T> {
  readonly group: string;
  followers: number;
  /** When the last look began, by the timers' clock. */
  at: number;
  /** How long that look holds. */
  holdsMs: number;
  seen: Promise<T> | undefined;
  /** As it was seen last, once it was. */
  last: T | undefined;
  underWay: boolean;
  /** Something has happened since that look began. */
  stirred: boolean;
}

/**
 * Looks at things on behalf of all who follow them: what one of them is shown holds for the others as well, until the
 * next look is due. So a thing costs one look at a time, however many follow it, and less while nothing happens to it.
 */
export class SharedLooks<T> {
  readonly #pace: LookPace;
  readonly #isSame: (one: T, other: T) => boolean;
  readonly #timers: Timers;
  readonly #things = new Map<string, Shared<T>>();
  readonly #groups = new Map<string, Set<Shared<T>>>();

  /** @param isSame whether two looks have seen the same. */
  constructor(pace: LookPace, isSame: (one: T, other: T) => boolean, timers: Timers) {
    this.#pace = pace;
    this.#isSame = isSame;
    this.#timers = timers;
  }

  /**
   * One more follows the thing, until `leave`; it is shown how the thing stands now.
   *
   * @param group what `happened` names the thing by; others may be in it.
   */
  join(thing: string, group: string): void {
    const known = this.#things.get(thing);
    const { leastMs: holdsMs } = this.#pace;
    const look = { at: 0, holdsMs, seen: undefined, last: undefined, underWay: false, stirred: false };
    const shared = known ?? { group, followers: 0, ...look };
    shared.followers += 1;
    this.#stir(shared);
    if (known !== undefined) return;
    this.#things.set(thing, shared);
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(shared));
  }

  /** To be called once for each `join`. What nobody follows any more is forgotten. */
  leave(thing: string): void {
    const shared = this.#things.get(thing);
    if (shared === undefined) return;
    shared.followers -= 1;
    if (shared.followers > 0) return;
    this.#things.delete(thing);
    const group = this.#groups.get(shared.group);
    group?.delete(shared);
    if (group?.size === 0) this.#groups.delete(shared.group);
  }

  /** Something in the group may have changed: the next look is due as if it had. */
  happened(group: string): void {
    for (const shared of this.#groups.get(group) ?? []) this.#stir(shared);
  }

  /** How the thing stands, by `look` unless somebody has looked a moment ago. @throws what `look` does. */
  see(thing: string, look: () => Promise<T>): Promise<T> {
    const shared = this.#things.get(thing);
    if (shared === undefined) return look();
    const { seen, underWay, at, holdsMs } = shared;
    if (seen !== undefined && (underWay || this.#timers.nowMs() - at < holdsMs)) return seen;
    shared.at = this.#timers.nowMs();
    shared.underWay = true;
    shared.stirred = false;
    const looking = look();
    shared.seen = looking;
    looking.then(
      (found) => {
        shared.underWay = false;
        this.#setPace(shared, found);
      },
      () => {
        // The next one to ask looks anew.
        shared.underWay = false;
        shared.seen = undefined;
      },
    );
    return looking;
  }

  #setPace(shared: Shared<T>, found: T): void {
    const { leastMs, mostMs } = this.#pace;
    const unchanged = shared.last !== undefined && this.#isSame(shared.last, found);
    shared.last = found;
    // What happened while it was looked at may not have been seen.
    shared.holdsMs = unchanged && !shared.stirred ? Math.min(mostMs, shared.holdsMs * 2) : leastMs;
  }

  #stir(shared: Shared<T>): void {
    shared.stirred = true;
    shared.holdsMs = this.#pace.leastMs;
  }
}
