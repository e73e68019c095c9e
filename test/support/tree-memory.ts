import { readFileSync } from 'node:fs';
import { descendants } from './processes.ts';

/** Bytes that process trees have in memory, shared pages counted in parts (PSS, proc(5)). */
export function treeMemory(roots: readonly number[]): number {
  let bytes = 0;
  for (const pid of roots.flatMap((root) => [root, ...descendants(root).map((child) => child.pid)])) {
    try {
      const pss = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
      bytes += Number(pss?.[1] ?? 0) * 1024;
    } catch {
      // It has just ended.
    }
  }
  return bytes;
}
