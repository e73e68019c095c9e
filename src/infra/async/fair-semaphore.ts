import { KeyedMutex } from './keyed-mutex.ts';
import { Semaphore } from './semaphore.ts';

interface FairSemaphoreBounds {
  /** Tasks that run at a time. */
  readonly permits: number;
  /** Waiting tasks of all keys together; at most one task of each key waits for a permit. */
  readonly maxWaiting: number;
  /** Tasks of one key that wait for the previous task of that key. */
  readonly maxWaitingOfKey: number;
  /** Makes the error of a task that finds the queue full. */
  readonly full: () => Error;
}

/** A semaphore in whose queue every key has at most one position: many tasks of one key do not hold up other keys. */
export class FairSemaphore {
  readonly #perKey: KeyedMutex;
  readonly #permits: Semaphore;

  constructor({ permits, maxWaiting, maxWaitingOfKey, full }: FairSemaphoreBounds) {
    this.#perKey = new KeyedMutex({ maxWaiting: maxWaitingOfKey, full });
    this.#permits = new Semaphore(permits, { maxWaiting, full });
  }

  /** @throws the error of `full` when the queue is full. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    return this.#perKey.run(key, () => this.#permits.run(task));
  }
}
