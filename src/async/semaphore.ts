export interface SemaphoreQueue {
  /** Tasks that wait for a permit; as many as come unless said otherwise. */
  readonly maxWaiting?: number;
  /** Makes the error of those for whom there is no room to wait. */
  readonly full?: () => Error;
}

/** A semaphore with a bounded queue: lets a few tasks run at a time, the others first come, first served. */
export class Semaphore {
  readonly #permits: number;
  readonly #maxWaiting: number;
  readonly #full: () => Error;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param permits tasks that run at a time. */
  constructor(
    permits: number,
    { maxWaiting = Number.POSITIVE_INFINITY, full = () => new Error('Too many wait.') }: SemaphoreQueue = {},
  ) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
    this.#full = full;
  }

  /** Nobody runs or waits. */
  get idle(): boolean {
    return this.#running === 0;
  }

  /**
   * @param signal gives the wait up; a task that has begun is not its matter.
   * @throws what `full` makes, when there is no room to wait; the reason of the signal.
   */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.#permits) this.#running += 1;
    else if (this.#waiting.length >= this.#maxWaiting) throw this.#full();
    // Whoever leaves hands the permit over, so nobody can slip in between.
    else await this.#turn(signal);
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(begin);
    });
  }
}
