import { treeMemory } from '../support/tree-memory.ts';

const SAMPLE_MS = 250;

/** Watches the memory of process trees. `stop` answers the peak in bytes. */
export function watchMemory(roots: readonly number[]): { stop(): number } {
  let peak = treeMemory(roots);
  const timer = setInterval(() => {
    peak = Math.max(peak, treeMemory(roots));
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}
