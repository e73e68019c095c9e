import type { Readable, Writable } from 'node:stream';
import { PlatenError } from '../errors/registry.ts';
import { type ReservationBounds, Reservations } from './reservations.ts';

const RETRY_AFTER_S = 5;

/** The reservation of one stream that is sent to a caller. */
export interface StreamReservation {
  /**
   * Gives the reservation to a stream, which holds it until it is closed or the reservation is given to another stream:
   * first the source, then the response. A stream that is given an evicted reservation is destroyed.
   *
   * @returns the stream.
   */
  hold<S extends Readable | Writable>(stream: S): S;
  /** Gives the reservation back, when no stream is going to hold it. */
  release(): void;
}

/**
 * Bounds the streams that are sent to callers at a time. The newest stream is evicted first: older streams have less
 * left to send.
 *
 * @param bounds numbers of streams.
 * @param what the streams are, for the message of a rejection.
 */
export function openStreams(bounds: ReservationBounds, what: string): Reservations {
  const tooMany = (code: 'TOO_MANY_WAITING' | 'UNAVAILABLE', message: string) => () =>
    new PlatenError(code, message, { retryAfterSeconds: RETRY_AFTER_S });
  return new Reservations({
    ...bounds,
    evict: 'newest',
    ownerExceeded: tooMany(
      'TOO_MANY_WAITING',
      `${bounds.perOwner} ${what} of this account are open already.`,
    ),
    allExceeded: tooMany('UNAVAILABLE', `As many ${what} are open as there may be.`),
  });
}

/** @throws PlatenError TOO_MANY_WAITING past the owner's bound; UNAVAILABLE past the bound of all owners. */
export function reserveStream(streams: Reservations, ownerId: string): StreamReservation {
  let current: Readable | Writable | undefined;
  const reservation = streams.reserve(ownerId, 1, () => current?.destroy());
  return {
    hold(stream) {
      if (!reservation.held) {
        stream.destroy();
        return stream;
      }
      current = stream;
      stream.once('close', () => {
        if (current === stream) reservation.release();
      });
      return stream;
    },
    release: reservation.release,
  };
}
