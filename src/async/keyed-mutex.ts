import { Semaphore, type SemaphoreQueue } from './semaphore.ts';

/** A mutex for each key: one task at a time, first come, first served; those of other keys do not wait for it. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Semaphore>();
  readonly #queue: SemaphoreQueue;

  /** @param queue of each key. */
  constructor(queue: SemaphoreQueue = {}) {
    this.#queue = queue;
  }

  /** @throws what `full` makes, when there is no room to wait. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Semaphore(1, this.#queue);
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.run(task);
    } finally {
      if (mutex.idle) this.#mutexes.delete(key);
    }
  }
}
