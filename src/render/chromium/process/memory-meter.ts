import { readFile } from 'node:fs/promises';
import type { ProcessSample } from './processes.ts';

/** Processes that are measured per sample. Each measurement takes the kernel one to three milliseconds. */
const MEASURED_AT_ONCE = 6;
/** Number of samples after which a process whose resident size has not changed is measured again. */
const UNCHANGED_SAMPLES = 10;

interface Measured {
  readonly startTime: number;
  /** Resident and proportional size at the same moment, in bytes. */
  readonly resident: number;
  readonly proportional: number;
  readonly sample: number;
}

/**
 * Measures processes by their proportional set size (PSS, proc(5)): memory that processes share is counted once,
 * divided among them. Resident sizes count it in each process, which triples the result for a browser with fifty pages.
 *
 * The kernel walks all pages of a process to compute its PSS, so only some processes are measured per sample: new ones
 * first, then those whose measurement is oldest, and seldom those that have not changed. For each other process, its
 * last measurement plus its growth since then is used.
 */
export class MemoryMeter {
  readonly #measured = new Map<number, Measured>();
  #samples = 0;

  /** Bytes by pid, for each of `processes`. All other processes are forgotten. */
  async read(processes: readonly ProcessSample[]): Promise<Map<number, number>> {
    this.#samples++;
    this.#forgetOthers(processes);
    const age = ({ pid }: ProcessSample) => this.#measured.get(pid)?.sample ?? 0;
    const due = processes
      .filter((member) => this.#isDue(member))
      .sort((a, b) => age(a) - age(b))
      .slice(0, MEASURED_AT_ONCE);
    await Promise.all(due.map((member) => this.#measure(member)));
    const shared = this.#meanShared();
    return new Map(processes.map((member) => [member.pid, this.#estimate(member, shared)]));
  }

  #isDue({ pid, memoryBytes }: ProcessSample): boolean {
    const known = this.#measured.get(pid);
    if (known?.resident !== memoryBytes) return true;
    return this.#samples - known.sample >= UNCHANGED_SAMPLES;
  }

  async #measure({ pid, startTime, memoryBytes }: ProcessSample): Promise<void> {
    const proportional = await proportionalBytes(pid);
    if (proportional === undefined) return;
    this.#measured.set(pid, { startTime, resident: memoryBytes, proportional, sample: this.#samples });
  }

  #estimate({ pid, memoryBytes }: ProcessSample, shared: number): number {
    const known = this.#measured.get(pid);
    if (known === undefined) return Math.max(0, memoryBytes - shared);
    return Math.max(0, known.proportional + memoryBytes - known.resident);
  }

  /** The mean memory per process that is shared with others and counted there. */
  #meanShared(): number {
    const all = [...this.#measured.values()];
    if (all.length === 0) return 0;
    return all.reduce((sum, { resident, proportional }) => sum + resident - proportional, 0) / all.length;
  }

  #forgetOthers(processes: readonly ProcessSample[]): void {
    const alive = new Map(processes.map(({ pid, startTime }) => [pid, startTime]));
    for (const [pid, { startTime }] of this.#measured)
      if (alive.get(pid) !== startTime) this.#measured.delete(pid);
  }
}

/** Proportional set size in bytes, which takes one to three milliseconds. @returns undefined when it has ended. */
export async function proportionalBytes(pid: number): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(text)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
