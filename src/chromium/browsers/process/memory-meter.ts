import { readFile } from 'node:fs/promises';
import type { ProcessSample } from './processes.ts';

/** Processes that are measured in one sample. Each takes the kernel one to three milliseconds. */
const MEASURED_AT_ONCE = 6;

interface Measured {
  readonly startTime: number;
  /** Both at the same moment, in bytes. */
  readonly resident: number;
  readonly proportional: number;
  readonly sample: number;
}

/**
 * Weighs processes by their proportional set size (PSS, proc(5)): what processes share is counted once, in parts.
 * Resident sizes count it in each of them, which makes three of one for a browser with fifty pages.
 *
 * The kernel walks all pages of a process to tell its PSS, so only some are measured at a time: new ones first, then
 * whoever has not been for longest. For the rest counts what was measured, and by how much they have grown since.
 */
export class MemoryMeter {
  readonly #measured = new Map<number, Measured>();
  #samples = 0;

  /** Bytes by pid, for each of `processes`. Whatever is not among them is forgotten. */
  async read(processes: readonly ProcessSample[]): Promise<Map<number, number>> {
    this.#samples++;
    this.#forgetOthers(processes);
    const age = ({ pid }: ProcessSample) => this.#measured.get(pid)?.sample ?? 0;
    const due = [...processes].sort((a, b) => age(a) - age(b)).slice(0, MEASURED_AT_ONCE);
    await Promise.all(due.map((member) => this.#measure(member)));
    const shared = this.#meanShared();
    return new Map(processes.map((member) => [member.pid, this.#estimate(member, shared)]));
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

  /** What processes have in common with others on average, and others count for them. */
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

/**
 * What a process weighs at this moment, in bytes, by its proportional set size. The kernel takes one to three milliseconds.
 *
 * @returns undefined when it has ended, or may not be looked at.
 */
export async function proportionalBytes(pid: number): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(text)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
