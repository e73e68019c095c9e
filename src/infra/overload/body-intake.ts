import { PlatenError } from '../errors/registry.ts';
import { LeastRate } from './least-rate.ts';
import { type ReservationBounds, Reservations } from './reservations.ts';

const RETRY_AFTER_S = 1;

/** Bytes of bodies that are held at a time: of one account or anonymous caller's network, and of all. */
export interface BodyBounds extends ReservationBounds {
  /** Bytes a second at which a body must be received. */
  readonly leastRate: number;
  /** The window over which this rate is measured, in milliseconds. */
  readonly rateWindowMs: number;
}

/** A body that is being received. */
export interface Intake {
  /** Notes that this many bytes of it have been received. */
  received(bytes: number): void;
  completed(): void;
  /** @param listener called, once at most, when the rest of the body is not to be waited for. */
  onRejected(listener: (error: Error) => void): void;
  /** Releases the bytes of the body, which is not needed any more. */
  release(): void;
}

/**
 * Bounds request bodies: how many bytes are held at a time, and how slowly they may be received. Announced bytes count
 * from the beginning, so that a body that has been admitted can be read to its end.
 */
export class BodyIntake {
  readonly #reservations: Reservations;
  readonly #rate: LeastRate;

  constructor({ leastRate, rateWindowMs, ...bounds }: BodyBounds) {
    this.#reservations = new Reservations({
      ...bounds,
      evict: 'oldest',
      ownerExceeded: () =>
        new PlatenError('TOO_MANY_UPLOADS', undefined, { retryAfterSeconds: RETRY_AFTER_S }),
      allExceeded: () =>
        new PlatenError('UNAVAILABLE', 'The service is taking in as much as it can.', {
          retryAfterSeconds: RETRY_AFTER_S,
        }),
    });
    this.#rate = new LeastRate({ bytesPerSecond: leastRate, windowMs: rateWindowMs });
  }

  /** Bytes that are held at the moment, and announced bytes that have not been received yet. */
  get bytesInFlight(): number {
    return this.#reservations.total;
  }

  /**
   * Begins to receive a body.
   *
   * @param ownerId an account, or an anonymous caller's network.
   * @param announced bytes by its Content-Length; 0 without one.
   * @throws PlatenError TOO_MANY_UPLOADS past the owner's bound, UNAVAILABLE past the bound of all owners; later, to
   * the listener of `onRejected`, the same or UPLOAD_TOO_SLOW.
   */
  begin(ownerId: string, announced: number): Intake {
    let listener: ((error: Error) => void) | undefined;
    let total = 0;
    const reject = (error: Error) => {
      release();
      listener?.(error);
      listener = undefined;
    };
    const reservation = this.#reservations.reserve(ownerId, announced, reject);
    const pace = this.#rate.watch(() => reject(new PlatenError('UPLOAD_TOO_SLOW')));
    const release = () => {
      pace.done();
      reservation.release();
    };
    return {
      received(bytes) {
        pace.received(bytes);
        const reserved = Math.max(total, announced);
        total += bytes;
        if (total <= reserved) return;
        try {
          reservation.grow(total - reserved);
        } catch (error) {
          reject(error as Error);
        }
      },
      completed() {
        pace.done();
        reservation.keep();
      },
      onRejected(given) {
        listener = given;
      },
      release,
    };
  }
}
