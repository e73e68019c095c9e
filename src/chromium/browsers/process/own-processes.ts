import { allPids, type ProcessSample, processTree, samplesOf } from './processes.ts';

/** After so many lists, processes that were known to be others' are sampled again, in case their pids are used anew. */
const FRESH_EVERY = 60;

/**
 * Lists the descendants of this process again and again. On a machine with many processes a sample of each takes tens of
 * milliseconds; a process that once was no descendant does not become one, and is not sampled again.
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
