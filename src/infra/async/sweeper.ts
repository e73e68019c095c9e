import type { Logger } from '../telemetry/logger.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface Sweep {
  readonly name: string;
  /** Milliseconds between the end of one run and the start of the next. */
  readonly everyMs: number;
  /** The longest pause while the installation has nothing to do, in milliseconds; default `everyMs`. */
  readonly atRestMs?: number;
  /** Whether it does ordinary work, and repairs nothing. */
  readonly isOrdinary?: true;
  /** @returns the number of repairs, or of what it has found to do; undefined when that is not known. */
  run(): Promise<number | undefined>;
}

/** A sweep of ordinary work, which repairs nothing. @param run may return how much it has found to do. */
export function ordinary(
  name: string,
  everyMs: number,
  run: () => Promise<unknown>,
  atRestMs = everyMs,
): Sweep {
  return {
    name,
    everyMs,
    atRestMs,
    isOrdinary: true,
    async run() {
      const found = await run();
      return typeof found === 'number' ? found : undefined;
    },
  };
}

/** The longest pause at rest of a sweep that runs often, in milliseconds. */
const LONGEST_REST_MS = 60_000;

/** The pause at rest of a sweep that runs often: so many times its usual one, and a minute at most. Milliseconds. */
export function restPauseMs(everyMs: number, times: number): number {
  return Math.max(everyMs, Math.min(times * everyMs, LONGEST_REST_MS));
}

/** For how long nothing may have happened until the installation counts as being at rest, in milliseconds. */
const AT_REST_AFTER_MS = 15_000;

interface Scheduled {
  readonly sweep: Sweep;
  readonly pauseMs: number;
  cancel(): void;
}

/**
 * Runs each sweep repeatedly, one run at a time; a sweep that fails is tried again at its next run. While nothing happens
 * (`wake`), the pause of a sweep that finds nothing doubles, up to its pause at rest.
 */
export class Sweeper {
  readonly #scheduled = new Map<string, Scheduled>();
  readonly #running = new Set<Promise<void>>();
  readonly #logger: Logger;
  readonly #onRun: (sweep: string, put: number, failed: boolean) => void;
  readonly #timers: Timers;
  #stopped = false;
  #lastRun = Date.now();
  #wokenAtMs: number;

  constructor(
    logger: Logger,
    onRun: (sweep: string, put: number, failed: boolean) => void = () => {},
    timers: Timers = systemTimers,
  ) {
    this.#logger = logger;
    this.#onRun = onRun;
    this.#timers = timers;
    this.#wokenAtMs = timers.nowMs();
  }

  start(sweeps: readonly Sweep[]): void {
    for (const sweep of sweeps) this.#schedule(sweep, 0);
  }

  /** Something has happened that sweeps may be needed for: none pauses for longer than usual for the next while. */
  wake(): void {
    const wasAtRest = this.#isAtRest();
    this.#wokenAtMs = this.#timers.nowMs();
    if (!wasAtRest) return;
    for (const { sweep, pauseMs, cancel } of [...this.#scheduled.values()]) {
      if (pauseMs <= sweep.everyMs) continue;
      cancel();
      this.#schedule(sweep, sweep.everyMs);
    }
  }

  /** Epoch milliseconds when a sweep last finished, with or without an error: the liveness signal. */
  get lastRun(): number {
    return this.#lastRun;
  }

  /** Resolves when no sweep is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { cancel } of this.#scheduled.values()) cancel();
    await Promise.all(this.#running);
  }

  #isAtRest(): boolean {
    return this.#timers.nowMs() - this.#wokenAtMs >= AT_REST_AFTER_MS;
  }

  #schedule(sweep: Sweep, pauseMs: number): void {
    if (this.#stopped) return;
    const cancel = this.#timers.after(pauseMs, () => {
      this.#scheduled.delete(sweep.name);
      const run = this.#run(sweep).then((found) => {
        this.#running.delete(run);
        this.#schedule(sweep, found > 0 ? sweep.everyMs : this.#nextPauseMs(sweep, pauseMs));
      });
      this.#running.add(run);
    });
    this.#scheduled.set(sweep.name, { sweep, pauseMs, cancel });
  }

  #nextPauseMs({ everyMs, atRestMs = everyMs }: Sweep, pauseMs: number): number {
    return this.#isAtRest() ? Math.min(atRestMs, Math.max(everyMs, 2 * pauseMs)) : everyMs;
  }

  /** @returns how much it has repaired, or found to do. Never rejects. */
  async #run(sweep: Sweep): Promise<number> {
    let found = 0;
    try {
      found = (await sweep.run()) ?? 0;
      const put = sweep.isOrdinary ? 0 : found;
      this.#onRun(sweep.name, put, false);
      if (put > 0) this.#logger.debug({ sweep: sweep.name, put }, 'sweep put things right');
    } catch (error) {
      this.#onRun(sweep.name, 0, true);
      this.#logger.error({ err: error, sweep: sweep.name }, 'sweep failed');
    }
    this.#lastRun = Date.now();
    return found;
  }
}
