import type { Response } from 'express';
import { PlatenError } from '../errors/registry.ts';
import { type BodyShare, BytesInFlight } from '../limits/bytes-in-flight.ts';

/** Smaller answers are not counted, in bytes: connections, which are bounded, hold no more than this of each. */
const COUNTED_FROM = 16 * 1024;
const RETRY_AFTER_S = 5;

export interface AnswerBounds {
  /** Bytes of all answers that wait to be read. */
  readonly totalBytes: number;
  /** Bytes of those of one account, or of one network that is not known. An answer that is larger counts as this much. */
  readonly bytesPerOwner: number;
  /** Bytes a second that an answer has to be taken at, on the whole. */
  readonly leastRate: number;
  /** Milliseconds that its reader has on top. */
  readonly graceMs: number;
}

export const ANSWER_BOUNDS: AnswerBounds = {
  totalBytes: 128 * 1024 * 1024,
  bytesPerOwner: 32 * 1024 * 1024,
  leastRate: 16 * 1024,
  graceMs: 15_000,
};

/** What one answer takes of the bounds. */
export interface AnswerShare {
  /**
   * The answer is known: its share is held until the response has been handed over, or is closed.
   *
   * @throws PlatenError as `UnreadAnswers.begin`.
   */
  hold(response: Response, bytes: number): void;
  /** There is no such answer after all. */
  release(): void;
}

/**
 * Bounds the bytes of answers that are held in memory until their readers take them: what one account leaves unread must
 * not take the memory that serves all. An answer is given up, with its connection, that is read too slowly; and one of
 * whoever leaves most unread, when all that there may be are and somebody else who has less gets another one.
 */
export class UnreadAnswers {
  readonly #inFlight: BytesInFlight;
  readonly #bounds: AnswerBounds;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
    this.#inFlight = new BytesInFlight(
      { total: bounds.totalBytes, perOwner: bounds.bytesPerOwner },
      { ofOwner: tooMuchOfOne, ofAll: tooMuchOfAll },
    );
  }

  /** Bytes that are held at the moment. */
  get bytes(): number {
    return this.#inFlight.total;
  }

  /**
   * Begins an answer, before what it takes is looked up.
   *
   * @param expected its bytes, as far as that is known.
   * @throws PlatenError TOO_MANY_WAITING past what its owner may leave unread, UNAVAILABLE past what all may.
   */
  begin(ownerId: string, expected: number): AnswerShare {
    let response: Response | undefined;
    let share: BodyShare | undefined;
    let ended: PlatenError | undefined;
    let held = 0;
    const hold = (bytes: number) => {
      const counted = Math.min(bytes, this.#bounds.bytesPerOwner);
      share ??= this.#inFlight.begin(ownerId, 0, (error) => {
        ended = error;
        response?.destroy();
      });
      share.grow(Math.max(0, counted - held));
      held = Math.max(held, counted);
    };
    if (expected > 0) hold(expected);
    const release = () => share?.release();
    return {
      hold: (given, bytes) => {
        if (ended !== undefined) throw ended;
        if (bytes < COUNTED_FROM) {
          release();
          return;
        }
        hold(bytes);
        response = given;
        const longest = this.#bounds.graceMs + (bytes / this.#bounds.leastRate) * 1000;
        const timer = setTimeout(() => given.destroy(), longest);
        timer.unref();
        given.once('close', () => {
          clearTimeout(timer);
          release();
        });
      },
      release,
    };
  }
}

function tooMuchOfOne(): PlatenError {
  return new PlatenError('TOO_MANY_WAITING', 'Too many answers to this account wait to be read.', {
    retryAfterSeconds: RETRY_AFTER_S,
  });
}

function tooMuchOfAll(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'As many answers wait to be read as there may be.', {
    retryAfterSeconds: RETRY_AFTER_S,
  });
}
