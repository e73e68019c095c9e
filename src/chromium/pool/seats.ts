import type { JobEnd } from '../job-end.ts';

/** Room for so many renders at a time; who comes later waits in turn. */
export class RenderSeats {
  readonly total: number;
  #busy = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(total: number) {
    this.total = total;
  }

  get busy(): number {
    return this.#busy;
  }

  /** Resolves with a seat's release; rejects when the job ends first. */
  async take(end: JobEnd): Promise<() => void> {
    if (this.#busy >= this.total) await this.#turn(end);
    else this.#busy++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.#waiting.shift();
      // The seat goes from hand to hand: nobody who has just come can take it.
      if (next) next();
      else this.#busy--;
    };
  }

  async #turn(end: JobEnd): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    try {
      await end.race(promise);
    } catch (error) {
      const at = this.#waiting.indexOf(resolve);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.#passOn();
      throw error;
    }
  }

  /** Was given a seat and ended in the same moment. */
  #passOn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy--;
  }
}
