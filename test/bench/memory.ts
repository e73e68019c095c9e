import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 250;

/** Bytes that a process tree has in memory, shared pages counted in parts (PSS, proc(5)). */
function treeMemory(roots: readonly number[]): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      // Field 4, counted from behind the command's closing bracket.
      const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It has just ended.
    }
  }
  let bytes = 0;
  const visit = (pid: number) => {
    try {
      const pss = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
      bytes += Number(pss?.[1] ?? 0) * 1024;
    } catch {
      // It has just ended.
    }
    for (const child of children.get(pid) ?? []) visit(child);
  };
  for (const root of roots) visit(root);
  return bytes;
}

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
