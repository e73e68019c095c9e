import { PlatenError } from '../errors/registry.ts';

/** What a caller is told while it is not known yet how fast the backlog goes. */
const FIRST_GUESS_S = 5;
const LONGEST_S = 60;

/**
 * Refuses new work while the whole system has as much as it may have. While it does nothing new is accepted, so how fast the number of live jobs falls is how fast they are done.
 */
export class LoadShedder {
  readonly #bound: number;
  readonly #unpaidBound: number;
  #live = 0;
  #sheddingSince: { readonly at: number; readonly live: number } | undefined;
  #perSecond: number | undefined;

  /**
   * @param bound live jobs at which new ones are refused.
   * @param unpaidBound those at which new ones of plans without a price are: the rest is kept for those with one.
   */
  constructor(bound: number, unpaidBound = bound) {
    this.#bound = bound;
    this.#unpaidBound = unpaidBound;
  }

  /** Notes how many jobs are waiting or running. */
  observe(live: number, now: Date): void {
    this.#live = live;
    if (live < this.#unpaidBound) {
      this.#sheddingSince = undefined;
      return;
    }
    const at = now.getTime();
    this.#sheddingSince ??= { at, live };
    const done = this.#sheddingSince.live - live;
    const seconds = (at - this.#sheddingSince.at) / 1000;
    if (done > 0 && seconds > 0) this.#perSecond = done / seconds;
  }

  /** What new work is refused with; undefined while there is room. @param paid whether its plan has a price. */
  refusal(paid = true): PlatenError | undefined {
    const bound = paid ? this.#bound : this.#unpaidBound;
    if (this.#live < bound) return undefined;
    const tooMany = this.#live - bound + 1;
    const seconds = this.#perSecond === undefined ? FIRST_GUESS_S : tooMany / this.#perSecond;
    return new PlatenError('UNAVAILABLE', 'The service has as much work as it can take.', {
      // One more, for the time until the next count.
      retryAfterSeconds: Math.min(LONGEST_S, Math.ceil(seconds) + 1),
    });
  }
}
