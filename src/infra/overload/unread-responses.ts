import type { ServerResponse } from 'node:http';
import { PlatenError } from '../errors/registry.ts';
import { type Reservation, type ReservationBounds, Reservations } from './reservations.ts';

/** Bytes. Smaller responses are not counted: the number of connections, which is bounded, bounds them as well. */
const COUNTED_FROM = 16 * 1024;
const RETRY_AFTER_S = 5;

/** A response that is larger than the owner's bound counts as that bound. */
export interface ResponseBounds extends ReservationBounds {
  /** Bytes a second at which a response must be read on average. */
  readonly leastRate: number;
  /** Milliseconds that its reader has in addition. */
  readonly graceMs: number;
}

export const RESPONSE_BOUNDS: ResponseBounds = {
  inAll: 128 * 1024 * 1024,
  perOwner: 32 * 1024 * 1024,
  leastRate: 16 * 1024,
  graceMs: 15_000,
};

/** The bytes that one response holds. */
export interface ResponseReservation {
  /** Holds a response's bytes until it is sent or closed. @throws PlatenError as `UnreadResponses.begin`. */
  hold(response: ServerResponse, bytes: number): void;
  /** Releases the bytes, because there is no such response. */
  release(): void;
}

/**
 * Bounds the bytes of responses that are held in memory until callers have read them: responses that one account leaves
 * unread must not use up the memory. A response that is read too slowly is destroyed, with its connection. When the
 * bound of all owners is reached, a response of the owner with the most unread bytes is evicted for an owner with
 * fewer.
 */
export class UnreadResponses {
  readonly #reservations: Reservations;
  readonly #bounds: ResponseBounds;

  constructor(bounds: ResponseBounds) {
    this.#bounds = bounds;
    this.#reservations = new Reservations({
      ...bounds,
      evict: 'oldest',
      ownerExceeded: () => tooMuch('TOO_MANY_WAITING', 'Too many responses to this account are unread.'),
      allExceeded: () => tooMuch('UNAVAILABLE', 'The limit of unread responses is reached.'),
    });
  }

  /** Bytes that are held at the moment. */
  get bytes(): number {
    return this.#reservations.total;
  }

  /**
   * Begins a response, before its content is looked up.
   *
   * @param ownerId an account, or an anonymous caller's network.
   * @param expected bytes of the response, as far as they are known.
   * @throws PlatenError TOO_MANY_WAITING past the owner's bound, UNAVAILABLE past the bound of all owners.
   */
  begin(ownerId: string, expected: number): ResponseReservation {
    let held: ServerResponse | undefined;
    let reservation: Reservation | undefined;
    let evicted: Error | undefined;
    let counted = 0;
    const count = (bytes: number) => {
      reservation ??= this.#reservations.reserve(ownerId, 0, (error) => {
        evicted = error;
        held?.destroy();
      });
      const more = Math.min(bytes, this.#bounds.perOwner) - counted;
      if (more <= 0) return;
      reservation.grow(more);
      counted += more;
    };
    if (expected > 0) count(expected);
    const release = () => reservation?.release();
    return {
      hold: (response, bytes) => {
        if (evicted !== undefined) throw evicted;
        if (bytes < COUNTED_FROM) {
          release();
          return;
        }
        count(bytes);
        held = response;
        const longest = this.#bounds.graceMs + (bytes / this.#bounds.leastRate) * 1000;
        const timer = setTimeout(() => response.destroy(), longest);
        timer.unref();
        response.once('close', () => {
          clearTimeout(timer);
          release();
        });
      },
      release,
    };
  }
}

function tooMuch(code: 'TOO_MANY_WAITING' | 'UNAVAILABLE', message: string): PlatenError {
  return new PlatenError(code, message, { retryAfterSeconds: RETRY_AFTER_S });
}
