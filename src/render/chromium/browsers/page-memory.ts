import type { MachineMemory } from '../../../infra/machine/machine-memory.ts';
import { proportionalBytes } from '../process/memory-meter.ts';
import { killProcess } from '../process/processes.ts';
import type { BrowserWeight } from './browser-scale.ts';

const MIB = 1024 * 1024;
/** Bounds on the limit of a page's process, whatever memory there is. Bytes. */
const MOST_BYTES = 1536 * MIB;
const LEAST_BYTES = 256 * MIB;
/** Share of all memory that one page may use. */
const PAGE_SHARE = 1 / 4;
/** Share of all memory that is kept free by ending pages; below it, the system might end any process. */
const RESERVED_SHARE = 1 / 20;
/** A page that uses less is not ended: an empty page uses as much, so ending it would free too little. Bytes. */
const LEAST_ENDED_BYTES = 64 * MIB;
/** Pages that are measured before one of them is ended. */
const MEASURED = 4;

/** The memory limit of a page's process, in bytes. @param memoryBytes total memory. */
export function pageMemoryBytes(memoryBytes: number): number {
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(memoryBytes * PAGE_SHARE)));
}

/**
 * Ends the page in use with the most memory when memory runs out, so that only its render fails. Pages that each keep
 * within their limit may use up all memory together, and the system would then end the browser with all renders in it.
 *
 * A size that was not measured just now is an estimate, and too high for a process that has only begun: memory that it
 * has come to share with others since counts as its own. So the pages with the highest estimates are measured first.
 *
 * @param idlePids processes of unused pages, which are closed elsewhere.
 * @param measure returns the memory of a process, in bytes.
 * @returns the process that was ended.
 */
export async function endHeaviestPage(
  machine: MachineMemory,
  weights: readonly Pick<BrowserWeight, 'pages'>[],
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

/** The pages that are in use and above LEAST_ENDED_BYTES, the largest first. */
function heavyPages(pages: readonly PageWeight[], idle: ReadonlySet<number>): PageWeight[] {
  return pages
    .filter(([pid, bytes]) => bytes >= LEAST_ENDED_BYTES && !idle.has(pid))
    .sort(([, a], [, b]) => b - a);
}
