export interface SemaphoreQueue {
  /** Tasks that wait for a permit; default unlimited. */
  readonly maxWaiting?: number;
  /** Makes the error of a task that finds the queue full. */
  readonly full?: () => Error;
}

/** A semaphore with a bounded queue: at most `permits` tasks run at a time, first come, first served. */
export class Semaphore {
  readonly #permits: number;
  readonly #maxWaiting: number;
  readonly #full: () => Error;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param permits the most tasks that run at a time. */
  constructor(
    permits: number,
    { maxWaiting = Number.POSITIVE_INFINITY, full = () => new Error('Too many wait.') }: SemaphoreQueue = {},
  ) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
    this.#full = full;
  }

  /** Whether no task runs or waits. */
  get idle(): boolean {
    return this.#running === 0;
  }

  /** @throws the error of `full` when the queue is full. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** @returns a function that releases the permit, once. @throws as `run`; the reason of the signal. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#running < this.#permits) this.#running += 1;
    else if (this.#waiting.length >= this.#maxWaiting) throw this.#full();
    // A released permit goes directly to the next task in the queue, so no later task can take it first.
    else await this.#wait(signal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
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
