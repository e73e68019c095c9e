import type { Logger } from '../telemetry/logger.ts';
import { moveToHistory } from './history.ts';
import type { Job } from './job.ts';
import type { JobCollections } from './job-collections.ts';

const FLUSH_AFTER_MS = 250;
const FLUSH_AT = 100;

/**
 * Gathers jobs that have ended and moves them to the history a few at a time: three writes for many jobs instead of
 * three for each. What is lost with the process is found by the sweep.
 */
export class HistoryMover {
  readonly #collections: JobCollections;
  readonly #logger: Logger;
  #waiting: Job[] = [];
  #timer: NodeJS.Timeout | undefined;
  #moving: Promise<void> = Promise.resolve();

  constructor(collections: JobCollections, logger: Logger) {
    this.#collections = collections;
    this.#logger = logger;
  }

  add(job: Job): void {
    this.#waiting.push(job);
    if (this.#waiting.length >= FLUSH_AT) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS);
  }

  /** Resolves when everything added so far is moved, or has been left to the sweep. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#moving = this.#moving.then(async () => {
      try {
        await moveToHistory(this.#collections, batch);
      } catch (error) {
        this.#logger.warn(
          { err: error, jobs: batch.length },
          'jobs stay where they are until the next sweep',
        );
      }
    });
    return this.#moving;
  }
}
