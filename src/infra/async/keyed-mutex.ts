import { Semaphore, type SemaphoreQueue } from './semaphore.ts';

/** A mutex for each key: its tasks run one at a time, first come, first served; other keys do not wait. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Semaphore>();
  readonly #queue: SemaphoreQueue;

  /** @param queue the bounds of each key's queue. */
  constructor(queue: SemaphoreQueue = {}) {
    this.#queue = queue;
  }

  /** @throws the error of `full` when the queue is full. */
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
