import { allPids, type ProcessSample, processTree, samplesOf } from './processes.ts';

/** Number of lists after which all processes are sampled again, in case a pid has been reused by a descendant. */
const FRESH_EVERY = 60;

/**
 * Lists the descendants of this process repeatedly. On a machine with many processes, sampling each takes tens of
 * milliseconds. A process that once was no descendant does not become one, and is not sampled again.
 */
export class OwnProcesses {
  #others: ReadonlySet<number> = new Set();
  #lists = 0;

  list(): ProcessSample[] {
    const others = this.#lists++ % FRESH_EVERY === 0 ? new Set<number>() : this.#others;
    const pids = allPids();
    const tree = processTree(process.pid, samplesOf(pids.filter((pid) => !others.has(pid))));
    const own = new Set(tree.map(({ pid }) => pid));
    this.#others = new Set(pids.filter((pid) => !own.has(pid)));
    return tree;
  }
}
