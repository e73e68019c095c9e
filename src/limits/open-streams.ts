import type { Readable, Writable } from 'node:stream';
import { PlatenError } from '../errors/registry.ts';

const RETRY_AFTER_S = 5;

export interface OpenStreamBounds {
  /** Streams of one account. */
  readonly perAccount: number;
  /** Streams of this process. */
  readonly inAll: number;
  /** What they are, for the words of a refusal. */
  readonly what: string;
}

/** A place among the streams that are open. */
export interface StreamPlace {
  /**
   * Gives the place to a stream, which has it until it is closed or the place is given to another one: what is read first,
   * then what it is written to. @returns the stream.
   */
  hold<S extends Readable | Writable>(stream: S): S;
  /** Gives the place back, when no stream is going to have it. */
  release(): void;
}

interface Place {
  readonly accountId: string;
  stream?: Readable | Writable;
}

/**
 * Bounds the streams that are sent to callers at a time. When all places are taken, a stream of the account that has most
 * is ended for the sake of one that has fewer: nobody is kept out by the many streams of others.
 */
export class OpenStreams {
  readonly #bounds: OpenStreamBounds;
  /** By account, in the order in which they were taken. */
  readonly #places = new Map<string, Set<Place>>();
  #total = 0;

  constructor(bounds: OpenStreamBounds) {
    this.#bounds = bounds;
  }

  /** @throws PlatenError TOO_MANY_WAITING past the account's bound; UNAVAILABLE past that of all. */
  take(accountId: string): StreamPlace {
    const { perAccount, inAll, what } = this.#bounds;
    const mine = this.#places.get(accountId)?.size ?? 0;
    if (mine >= perAccount)
      throw refused('TOO_MANY_WAITING', `${mine} ${what} of this account are open already.`);
    if (this.#total >= inAll && !this.#endOneOfMoreThan(mine + 1)) {
      throw refused('UNAVAILABLE', `As many ${what} are open as there may be.`);
    }
    const place: Place = { accountId };
    this.#add(place);
    return {
      hold: (stream) => {
        if (!this.#has(place)) {
          stream.destroy();
          return stream;
        }
        place.stream = stream;
        stream.once('close', () => {
          if (place.stream === stream) this.#remove(place);
        });
        return stream;
      },
      release: () => this.#remove(place),
    };
  }

  /** The stream that was begun last: those before it have less left to do. @returns whether there was one. */
  #endOneOfMoreThan(count: number): boolean {
    let most: ReadonlySet<Place> | undefined;
    for (const places of this.#places.values()) if (places.size > (most?.size ?? count)) most = places;
    const place = [...(most ?? [])].at(-1);
    if (place === undefined) return false;
    this.#remove(place);
    place.stream?.destroy();
    return true;
  }

  #has(place: Place): boolean {
    return this.#places.get(place.accountId)?.has(place) ?? false;
  }

  #add(place: Place): void {
    const places = this.#places.get(place.accountId) ?? new Set();
    this.#places.set(place.accountId, places.add(place));
    this.#total += 1;
  }

  #remove(place: Place): void {
    const { accountId } = place;
    const places = this.#places.get(accountId);
    if (places?.delete(place) !== true) return;
    this.#total -= 1;
    if (places.size === 0) this.#places.delete(accountId);
  }
}

function refused(code: 'TOO_MANY_WAITING' | 'UNAVAILABLE', message: string): PlatenError {
  return new PlatenError(code, message, { retryAfterSeconds: RETRY_AFTER_S });
}
