import type { BrowserWeight } from './browser-scale.ts';
import type { MachineMemory } from './process/machine-memory.ts';
import { proportionalBytes } from './process/memory-meter.ts';
import { killProcess } from './process/processes.ts';

const MIB = 1024 * 1024;
/** Of a page's process, whatever memory there is. Bytes. */
const MOST_BYTES = 1536 * MIB;
const LEAST_BYTES = 256 * MIB;
/** Of all memory, what one page may have. */
const PAGE_SHARE = 1 / 4;
/** Of all memory, what is kept free by ending pages: less than this, and the system would end anything. */
const RESERVED_SHARE = 1 / 20;
/** A lighter page is not ended: as much as an empty one weighs is not what memory is short of. Bytes. */
const LEAST_ENDED_BYTES = 64 * MIB;
/** Pages that are measured before one of them is ended. */
const MEASURED = 4;

/** What a page's process may have in memory. @param memoryBytes that there are. */
export function pageMemoryBytes(memoryBytes: number): number {
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(memoryBytes * PAGE_SHARE)));
}

/**
 * Ends the heaviest page that is under way when memory runs out, so that its render fails alone. Pages that each keep
 * within their bound may take all memory together, and the system would then end the browser with everybody in it.
 *
 * A weight that was not measured just now is an estimate, and too high for a process that has only begun: what it has come
 * to share with others since counts as its own. So those that seem heaviest are measured first.
 *
 * @param idlePids processes of pages that nobody uses: those are given back by others.
 * @param measure tells what a process weighs, in bytes.
 * @returns the process that was ended.
 */
export async function endHeaviestPage(
  machine: MachineMemory,
  weights: readonly BrowserWeight[],
  idlePids: () => ReadonlySet<number>,
  measure = proportionalBytes,
): Promise<number | undefined> {
  if (machine.available() >= machine.total * RESERVED_SHARE) return undefined;
  const heaviest = heavyPages(
    weights.flatMap(({ pages }) => [...pages]),
    idlePids(),
  ).slice(0, MEASURED);
  const measured = await Promise.all(
    heaviest.map(async ([pid, bytes]): Promise<PageWeight> => [pid, (await measure(pid)) ?? bytes]),
  );
  // Their renders may have ended meanwhile.
  const [ended] = heavyPages(measured, idlePids());
  if (ended === undefined) return undefined;
  killProcess(ended[0]);
  return ended[0];
}

/** A page's process, and its bytes. */
type PageWeight = readonly [pid: number, bytes: number];

/** Those that are in use and not light, the heaviest first. */
function heavyPages(pages: readonly PageWeight[], idle: ReadonlySet<number>): PageWeight[] {
  return pages
    .filter(([pid, bytes]) => bytes >= LEAST_ENDED_BYTES && !idle.has(pid))
    .sort(([, a], [, b]) => b - a);
}
