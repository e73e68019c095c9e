import type { Logger } from '../telemetry/logger.ts';

export interface Sweep {
  readonly name: string;
  /** Milliseconds between the end of one run and the start of the next. */
  readonly everyMs: number;
  /** @returns the number of repairs; undefined for a sweep that does ordinary work. */
  run(): Promise<number | undefined>;
}

/** A sweep of ordinary work, which repairs nothing. */
export function ordinary(name: string, everyMs: number, run: () => Promise<unknown>): Sweep {
  return {
    name,
    everyMs,
    async run() {
      await run();
      return undefined;
    },
  };
}

/** Runs each sweep repeatedly, one run at a time; a sweep that fails is tried again at its next run. */
export class Sweeper {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #logger: Logger;
  readonly #onRun: (sweep: string, put: number, failed: boolean) => void;
  #stopped = false;
  #lastRun = Date.now();

  constructor(logger: Logger, onRun: (sweep: string, put: number, failed: boolean) => void = () => {}) {
    this.#logger = logger;
    this.#onRun = onRun;
  }

  start(sweeps: readonly Sweep[]): void {
    for (const sweep of sweeps) this.#schedule(sweep, 0);
  }

  /** Epoch milliseconds when a sweep last finished, with or without an error: the liveness signal. */
  get lastRun(): number {
    return this.#lastRun;
  }

  /** Resolves when no sweep is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#running);
  }

  #schedule(sweep: Sweep, delayMs: number): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      const run = this.#run(sweep).finally(() => {
        this.#running.delete(run);
        this.#schedule(sweep, sweep.everyMs);
      });
      this.#running.add(run);
    }, delayMs);
    this.#timers.set(sweep.name, timer);
  }

  async #run(sweep: Sweep): Promise<void> {
    try {
      const put = (await sweep.run()) ?? 0;
      this.#onRun(sweep.name, put, false);
      if (put > 0) this.#logger.debug({ sweep: sweep.name, put }, 'sweep put things right');
    } catch (error) {
      this.#onRun(sweep.name, 0, true);
      this.#logger.error({ err: error, sweep: sweep.name }, 'sweep failed');
    }
    this.#lastRun = Date.now();
  }
}
