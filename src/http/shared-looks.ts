/** Those who follow the same thing, and what was seen of it last. */
interface Shared<T> {
  followers: number;
  /** When the last look began, by `performance.now()`. */
  at: number;
  seen: Promise<T> | undefined;
  underWay: boolean;
}

/**
 * Looks at things on behalf of all who follow them: what one of them is shown holds for the others as well, until the
 * next look is due. So a thing costs one look at a time, however many follow it.
 */
export class SharedLooks<T> {
  readonly #holdsMs: number;
  readonly #things = new Map<string, Shared<T>>();

  /** @param holdsMs how long what was seen is handed on, in milliseconds. */
  constructor(holdsMs: number) {
    this.#holdsMs = holdsMs;
  }

  /** One more follows the thing, until `leave`. */
  join(thing: string): void {
    const shared = this.#things.get(thing);
    if (shared !== undefined) shared.followers += 1;
    else this.#things.set(thing, { followers: 1, at: 0, seen: undefined, underWay: false });
  }

  /** To be called once for each `join`. What nobody follows any more is forgotten. */
  leave(thing: string): void {
    const shared = this.#things.get(thing);
    if (shared === undefined) return;
    shared.followers -= 1;
    if (shared.followers === 0) this.#things.delete(thing);
  }

  /** How the thing stands, by `look` unless somebody has looked a moment ago. @throws what `look` does. */
  see(thing: string, look: () => Promise<T>): Promise<T> {
    const shared = this.#things.get(thing);
    if (shared === undefined) return look();
    const { seen, underWay, at } = shared;
    if (seen !== undefined && (underWay || performance.now() - at < this.#holdsMs)) return seen;
    shared.at = performance.now();
    shared.underWay = true;
    const looking = look();
    shared.seen = looking;
    looking.then(
      () => {
        shared.underWay = false;
      },
      () => {
        // The next one to ask looks anew.
        shared.underWay = false;
        shared.seen = undefined;
      },
    );
    return looking;
  }
}
