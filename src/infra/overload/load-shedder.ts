import { PlatenError } from '../errors/registry.ts';

/** Retry-After in seconds while the rate at which jobs end is not known yet. */
const DEFAULT_RETRY_S = 5;
const MAX_RETRY_S = 60;

/**
 * Rejects new work while the whole service has its maximum of live jobs. Nothing is accepted meanwhile, so the rate at
 * which their number falls is the rate at which they end.
 */
export class LoadShedder {
  readonly #bound: number;
  readonly #unpaidBound: number;
  #live = 0;
  #sheddingSince: { readonly at: number; readonly live: number } | undefined;
  #perSecond: number | undefined;

  /**
   * @param bound live jobs at which new ones are rejected.
   * @param unpaidBound live jobs at which new jobs of plans without a price are rejected: the rest is kept for paid
   * plans.
   */
  constructor(bound: number, unpaidBound = bound) {
    this.#bound = bound;
    this.#unpaidBound = unpaidBound;
  }

  /** Notes the number of jobs that wait or run. */
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

  /** The error for new work; undefined while there is room. @param paid whether its plan has a price. */
  rejection(paid = true): PlatenError | undefined {
    const bound = paid ? this.#bound : this.#unpaidBound;
    if (this.#live < bound) return undefined;
    const tooMany = this.#live - bound + 1;
    const seconds = this.#perSecond === undefined ? DEFAULT_RETRY_S : tooMany / this.#perSecond;
    return new PlatenError('UNAVAILABLE', 'The service has as much work as it can take.', {
      // One second more, for the time until the next count.
      retryAfterSeconds: Math.min(MAX_RETRY_S, Math.ceil(seconds) + 1),
    });
  }
}
