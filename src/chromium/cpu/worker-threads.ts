import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Eight threads as nice as this have about as much of a core as one of a page's that it is shared with. */
const NICE = 19;
/** Threads are looked for so soon after a worker has been told of, and again after twice as long each time, */
const FIRST_CHECK_MS = 10;
/** until a worker that has not been found must have ended. */
const LAST_CHECK_MS = 1000;
/** Names that Chromium gives to the threads of workers of each kind, as the system cuts them off. */
const WORKER = /^(Dedicated|Shared|Service)Worker/;

/**
 * The threads of the workers in a renderer process. The system gives each as much of the cores as a whole page, so they are
 * made nicer than the threads of pages, for as long as they live.
 */
export class WorkerThreads {
  readonly #pid: number;
  /** As nice as they are to be, and known to have stayed it: as root Chromium gives each its priority when it starts. */
  readonly #nice = new Set<number>();
  #expected = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** One more worker has been started. */
  expect(): void {
    this.#expected++;
    this.check();
  }

  /** Looks for those that are expected and have not been found, from now on. */
  check(): void {
    this.stop();
    this.#checkAfter(FIRST_CHECK_MS);
  }

  /** Looks no more: none starts while the process stands still, or after its end. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #checkAfter(ms: number): void {
    if (ms > LAST_CHECK_MS || this.#nice.size >= this.#expected) return;
    this.#timer = setTimeout(() => {
      if (this.#makeNice()) this.#checkAfter(2 * ms);
    }, ms).unref();
  }

  /** @returns false when the process has ended. */
  #makeNice(): boolean {
    const tasks = `/proc/${this.#pid}/task`;
    try {
      for (const thread of readdirSync(tasks).map(Number)) {
        if (this.#nice.has(thread) || !WORKER.test(readFileSync(`${tasks}/${thread}/comm`, 'latin1')))
          continue;
        if (getPriority(thread) === NICE) this.#nice.add(thread);
        else setPriority(thread, NICE);
      }
      return true;
    } catch (error) {
      // One of them may have ended meanwhile.
      return (error as NodeJS.ErrnoException).code !== 'ENOENT' || isThere(tasks);
    }
  }
}

function isThere(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}
