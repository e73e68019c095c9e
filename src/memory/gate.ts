/** Lets a few through at a time and keeps a bounded number waiting, first come, first served. */
export class Gate {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Nobody runs or waits. */
  get idle(): boolean {
    return this.#running === 0;
  }

  /** @param full makes the error of those for whom there is no room to wait. */
  async run<T>(task: () => Promise<T>, full: () => Error): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running += 1;
    else if (this.#waiting.length >= this.#maxWaiting) throw full();
    // Whoever leaves hands the place over, so nobody can slip in between.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
