import { Gate } from './gate.ts';

/** Lets one task at a time through for each key, first come, first served; those of other keys do not wait for it. */
export class Turns {
  readonly #gates = new Map<string, Gate>();
  readonly #maxWaiting: number;
  readonly #full: () => Error;

  /**
   * @param maxWaiting tasks of one key that wait for their turn.
   * @param full makes the error of those for whom there is no room to wait.
   */
  constructor(
    maxWaiting = Number.POSITIVE_INFINITY,
    full = () => new Error('There is no room to wait for a turn.'),
  ) {
    this.#maxWaiting = maxWaiting;
    this.#full = full;
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const gate = this.#gates.get(key) ?? new Gate(1, this.#maxWaiting);
    this.#gates.set(key, gate);
    try {
      return await gate.run(task, this.#full);
    } finally {
      if (gate.idle) this.#gates.delete(key);
    }
  }
}
