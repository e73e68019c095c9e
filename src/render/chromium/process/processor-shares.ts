import type { ProcessSample } from './processes.ts';

/** What processes have used of processors since the last reading, by pid. */
interface Shares {
  /** In milliseconds; of a new process, since its start. */
  readonly usedMs: ReadonlyMap<number, number>;
  /** As a share of one core: 2 for two cores. A new process has none. */
  readonly ofCore: ReadonlyMap<number, number>;
}

/** Compares the processor time of processes with that of the last reading. */
export class ProcessorShares {
  readonly #now: () => number;
  #last: ReadonlyMap<number, ProcessSample> = new Map();
  #readAt = 0;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  read(processes: readonly ProcessSample[]): Shares {
    const now = this.#now();
    const elapsedMs = now - this.#readAt;
    const usedMs = new Map<number, number>();
    const ofCore = new Map<number, number>();
    for (const { pid, startTime, processorMs } of processes) {
      const before = this.#last.get(pid);
      const isKnown = before?.startTime === startTime;
      const used = processorMs - (isKnown ? before.processorMs : 0);
      usedMs.set(pid, used);
      if (isKnown) ofCore.set(pid, elapsedMs > 0 ? used / elapsedMs : 0);
    }
    this.#last = new Map(processes.map((process) => [process.pid, process]));
    this.#readAt = now;
    return { usedMs, ofCore };
  }
}
