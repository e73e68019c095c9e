import { KeyedMutex } from './keyed-mutex.ts';
import { Semaphore } from './semaphore.ts';

export interface FairSemaphoreBounds {
  /** Tasks that run at a time. */
  readonly permits: number;
  /** Tasks that wait for a permit, of all keys together: one of each key at most. */
  readonly maxWaiting: number;
  /** Tasks of one key that wait for the one before them. */
  readonly maxWaitingOfKey: number;
  /** Makes the error of a task for which there is no room to wait. */
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

  /** @throws what `full` makes, when there is no room to wait. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    return this.#perKey.run(key, () => this.#permits.run(task));
  }
}
