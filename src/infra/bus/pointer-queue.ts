import type { JobPointer } from './bus.ts';

/**
 * Pointers in order of arrival, one for each job. A pointer that is published again while it waits replaces the first
 * one, unless its version is older. So a queue never holds more pointers than jobs that may run, however long it is not
 * read.
 */
export class PointerQueue {
  readonly #waiting = new Map<string, JobPointer>();

  get size(): number {
    return this.#waiting.size;
  }

  push(pointer: JobPointer): void {
    const known = this.#waiting.get(pointer.jobId);
    if (known === undefined || known.version <= pointer.version) this.#waiting.set(pointer.jobId, pointer);
  }

  /** Takes the first; undefined when there is none. */
  shift(): JobPointer | undefined {
    const [first] = this.#waiting.values();
    if (first !== undefined) this.#waiting.delete(first.jobId);
    return first;
  }
}
