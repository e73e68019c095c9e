/** Allows a burst at once, and a fixed rate per second in the long run. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token if there is one. @returns 0, or else the milliseconds until there is one. */
  take(nowMs: number): number {
    const gained = ((nowMs - this.#filledAtMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#filledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond);
  }
}
