import { PlatenError } from '../errors/registry.ts';
import { BytesInFlight } from '../limits/bytes-in-flight.ts';
import { LeastRate } from '../limits/least-rate.ts';

export interface BodyBounds {
  /** Bytes of all bodies that are held at a time. */
  readonly totalBytes: number;
  /** Bytes of the bodies of one account, or of one network that is not known. */
  readonly bytesPerOwner: number;
  /** Bytes a second that a body has to come at. */
  readonly leastRate: number;
  /** In each window of so many milliseconds. */
  readonly rateWindowMs: number;
}

/** A body that is being taken in. */
export interface Intake {
  /** A part of it has come. */
  came(bytes: number): void;
  /** All of it has come. */
  arrived(): void;
  /** @param listener called, once at most, when the rest of it is not to be waited for. */
  onRefused(listener: (error: PlatenError) => void): void;
  /** It is needed no more. */
  release(): void;
}

/** Bounds what request bodies take of the process: how much of them is held at a time, and for how long they may come. */
export class BodyIntake {
  readonly #inFlight: BytesInFlight;
  readonly #rate: LeastRate;

  constructor({ totalBytes, bytesPerOwner, leastRate, rateWindowMs }: BodyBounds) {
    this.#inFlight = new BytesInFlight({ total: totalBytes, perOwner: bytesPerOwner });
    this.#rate = new LeastRate({ bytesPerSecond: leastRate, windowMs: rateWindowMs });
  }

  /** Bytes that are held at the moment, and those that are announced and still to come. */
  get bytesInFlight(): number {
    return this.#inFlight.total;
  }

  /**
   * Begins to take in a body.
   *
   * @param announced its bytes; 0 when that is not said.
   * @throws PlatenError TOO_MANY_UPLOADS past what its owner may send at a time, UNAVAILABLE past what all may; later,
   * to the listener of `onRefused`, the same or UPLOAD_TOO_SLOW.
   */
  begin(ownerId: string, announced: number): Intake {
    let listener: ((error: PlatenError) => void) | undefined;
    let received = 0;
    const refuse = (error: PlatenError) => {
      pace.done();
      share.release();
      listener?.(error);
      listener = undefined;
    };
    const share = this.#inFlight.begin(ownerId, announced, refuse);
    const pace = this.#rate.watch(() => refuse(new PlatenError('UPLOAD_TOO_SLOW')));
    return {
      came(bytes) {
        pace.came(bytes);
        const known = Math.max(received, announced);
        received += bytes;
        if (received <= known) return;
        try {
          share.grow(received - known);
        } catch (error) {
          refuse(error as PlatenError);
        }
      },
      arrived() {
        pace.done();
        share.arrived();
      },
      onRefused(given) {
        listener = given;
      },
      release() {
        pace.done();
        share.release();
      },
    };
  }
}
