import { MemoryMeter } from '../process/memory-meter.ts';
import { OwnProcesses } from '../process/own-processes.ts';
import { kindOf, type ProcessKind, type ProcessSample, processTree } from '../process/processes.ts';
import type { RendererWeight } from './warm-memory.ts';

/** A sample of one process of a browser. */
export interface BrowserProcess extends ProcessSample {
  readonly kind: ProcessKind;
  /** Proportional set size (PSS, proc(5)) in bytes. */
  readonly bytes: number;
}

/** Proportional set sizes in bytes. */
export interface BrowserWeight {
  readonly processes: readonly BrowserProcess[];
  /** Sum over the whole process tree. */
  readonly bytes: number;
  /** Sum over its renderer processes. */
  readonly renderers: RendererWeight;
  /** Size of each renderer process, by pid. */
  readonly pages: ReadonlyMap<number, number>;
}

/**
 * Measures the memory of browsers. All are measured together: processes are listed once for all browsers, and the
 * number of processes that one pass measures is bounded over all browsers (see MemoryMeter).
 */
export class BrowserScale {
  readonly #meter = new MemoryMeter();
  readonly #processes = new OwnProcesses();
  /** The known kinds, by pid. A process is not asked again, since there may be hundreds. */
  #kinds: ReadonlyMap<number, { readonly startTime: number; readonly kind: ProcessKind }> = new Map();

  /** The memory of `browsers`, in the same order. */
  async weigh(browsers: readonly { readonly pid: number }[]): Promise<BrowserWeight[]> {
    const listed = this.#processes.list();
    const trees = browsers.map(({ pid }) => processTree(pid, listed));
    const all = trees.flat();
    this.#findKinds(all);
    const weights = await this.#meter.read(all);
    return trees.map((members) => this.#weightOf(members, weights));
  }

  #weightOf(members: readonly ProcessSample[], weights: ReadonlyMap<number, number>): BrowserWeight {
    const processes = members.flatMap((member) => {
      const kind = this.#kinds.get(member.pid)?.kind;
      return kind === undefined ? [] : [{ ...member, kind, bytes: weights.get(member.pid) ?? 0 }];
    });
    const renderers = processes.filter(({ kind }) => kind === 'renderer');
    return {
      processes,
      bytes: sumOfBytes(processes),
      renderers: { bytes: sumOfBytes(renderers), count: renderers.length },
      pages: new Map(renderers.map(({ pid, bytes }) => [pid, bytes])),
    };
  }

  #findKinds(members: readonly ProcessSample[]): void {
    const kinds = new Map<number, { startTime: number; kind: ProcessKind }>();
    for (const { pid, startTime } of members) {
      const known = this.#kinds.get(pid);
      // A zygote may be a process that it has just forked.
      const isFinal = known?.startTime === startTime && known.kind !== 'zygote';
      const kind = isFinal ? known.kind : kindOf(pid);
      if (kind !== undefined) kinds.set(pid, { startTime, kind });
    }
    this.#kinds = kinds;
  }
}

function sumOfBytes(processes: readonly BrowserProcess[]): number {
  return processes.reduce((sum, { bytes }) => sum + bytes, 0);
}
