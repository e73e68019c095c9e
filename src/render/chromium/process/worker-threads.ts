import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Niceness of worker threads: eight get about as much of a core as one thread of a page that shares it. */
const NICE = 19;
/** Milliseconds from a worker's report to the first check for threads; each further check waits twice as long. */
const FIRST_CHECK_MS = 10;
/** No check waits longer: a worker that has not been found by then must have ended. Milliseconds. */
const LAST_CHECK_MS = 1000;
/** Thread names that Chromium gives to workers of each kind, as the system truncates them. */
const WORKER = /^(Dedicated|Shared|Service)Worker/;

/**
 * The threads of the workers in a renderer process. The system would give each as much of the cores as a whole page, so
 * their niceness is raised above that of page threads for as long as they live.
 */
export class WorkerThreads {
  readonly #pid: number;
  /** Threads found so at a later check: as root, Chromium sets a thread's priority when it starts. */
  readonly #nice = new Set<number>();
  #expected = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Called when a further worker has been started. */
  expect(): void {
    this.#expected++;
    this.check();
  }

  /** Starts to check for expected threads that have not been found. */
  check(): void {
    this.stop();
    this.#checkAfter(FIRST_CHECK_MS);
  }

  /** Stops checking: no thread starts while the process is stopped, or after its end. */
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
      // A thread may have ended meanwhile.
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
