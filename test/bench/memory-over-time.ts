import { readFileSync } from 'node:fs';
import { descendants, type ProcessId } from '../support/processes.ts';
import { treeMemory } from '../support/tree-memory.ts';

const MIB = 1024 * 1024;
const DEFAULT_SAMPLE_MS = 500;
/** What the processes of standalone are called here. */
export const PROCESS_KINDS = ['node', 'helpers', 'database', 'browsers'] as const;
export type Part = (typeof PROCESS_KINDS)[number];
/**
 * Bytes of each part: the resident memory of a single process (VmRSS), or what several have together (PSS). The
 * `renderers` are part of the browsers.
 */
export type Sample = Readonly<Record<Part | 'renderers', number>>;

/** Watches the memory of each process of standalone over a run; a process is found again when another takes its place. */
export function watchOverTime(
  pid: number,
  everyMs = DEFAULT_SAMPLE_MS,
): { readonly samples: readonly Sample[]; stop(): readonly Sample[] } {
  const samples: Sample[] = [];
  const check = () => samples.push(sampleOf(pid));
  check();
  const timer = setInterval(check, everyMs);
  return {
    samples,
    stop() {
      clearInterval(timer);
      check();
      return samples;
    },
  };
}

/** What standalone's processes have in memory now. */
export function sampleOf(pid: number): Sample {
  const children = descendants(pid);
  const isBrowser = ({ command }: ProcessId) => /chrom/i.test(command);
  const database = children.filter(({ command }) => command.includes('java'));
  const browsers = children.filter((child) => isBrowser(child) && !child.command.includes('--type='));
  const helpers = children.filter((child) => !isBrowser(child) && !child.command.includes('java'));
  return {
    node: residentOf(pid),
    helpers: sum(helpers.map((helper) => residentOf(helper.pid))),
    database: sum(database.map((server) => residentOf(server.pid))),
    browsers: treeMemory(browsers.map((browser) => browser.pid)),
    renderers: treeMemory(
      children.filter(({ command }) => command.includes('--type=renderer')).map((renderer) => renderer.pid),
    ),
  };
}

/** Highest of the first and of the last third of a run, in bytes. */
export function thirds(samples: readonly Sample[], part: Part): { first: number; last: number } {
  const third = Math.max(1, Math.floor(samples.length / 3));
  return { first: highest(samples.slice(0, third), part), last: highest(samples.slice(-third), part) };
}

export function highest(samples: readonly Sample[], part: keyof Sample): number {
  return Math.max(...samples.map((sample) => sample[part]));
}

/** The highest of each tenth of a run, in mebibytes: where it grew, and whether it went on. */
export function tenths(samples: readonly Sample[], part: keyof Sample): string {
  const tenth = samples.length / 10;
  return Array.from({ length: 10 }, (_, i) =>
    samples.slice(Math.floor(i * tenth), Math.ceil((i + 1) * tenth)),
  )
    .map((some) => (highest(some, part) / MIB).toFixed(0))
    .join(' ');
}

export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}

/** Bytes of a process that are in memory, shared ones included; 0 once it is gone. */
function residentOf(pid: number): number {
  try {
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(resident?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
