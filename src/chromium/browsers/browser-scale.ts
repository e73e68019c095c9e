import type { RendererWeight } from '../contexts/warm-memory.ts';
import { MemoryMeter } from './process/memory-meter.ts';
import { OwnProcesses } from './process/own-processes.ts';
import { isRenderer, killProcess, type ProcessSample, processTree } from './process/processes.ts';

/** Proportional set sizes (PSS, proc(5)) in bytes. */
export interface BrowserWeight {
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
  readonly #rendererLimit: number;
  /** Start time of each renderer process as of the last measurement, by pid. */
  #renderers: ReadonlyMap<number, number> = new Map();

  /** @param rendererLimit a renderer process whose resident memory exceeds this is killed. Bytes. */
  constructor(rendererLimit: number) {
    this.#rendererLimit = rendererLimit;
  }

  /** The memory of `browsers`, in the same order. */
  async weigh(browsers: readonly { readonly pid: number }[]): Promise<BrowserWeight[]> {
    const listed = this.#processes.list();
    const trees = browsers.map(({ pid }) => ({ root: pid, members: processTree(pid, listed) }));
    for (const { root, members } of trees)
      for (const { pid, memoryBytes } of members)
        if (pid !== root && memoryBytes > this.#rendererLimit) killProcess(pid);
    const all = trees.flatMap(({ members }) => members);
    this.#findRenderers(all);
    const weights = await this.#meter.read(all);
    return trees.map(({ members }) => this.#weightOf(members, weights));
  }

  #weightOf(members: readonly ProcessSample[], weights: ReadonlyMap<number, number>): BrowserWeight {
    const renderers = members.filter(({ pid }) => this.#renderers.has(pid));
    const pages = new Map(renderers.map(({ pid }) => [pid, weights.get(pid) ?? 0]));
    const sum = (bytes: Iterable<number>) => [...bytes].reduce((total, each) => total + each, 0);
    return {
      bytes: sum(members.map(({ pid }) => weights.get(pid) ?? 0)),
      renderers: { bytes: sum(pages.values()), count: renderers.length },
      pages,
    };
  }

  /** A process known as a renderer is not checked again, since there may be hundreds. */
  #findRenderers(members: readonly ProcessSample[]): void {
    const renderers = members.filter(
      ({ pid, startTime }) => this.#renderers.get(pid) === startTime || isRenderer(pid),
    );
    this.#renderers = new Map(renderers.map(({ pid, startTime }) => [pid, startTime]));
  }
}
