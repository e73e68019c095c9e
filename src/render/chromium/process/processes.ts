import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;
/** A clock tick of proc(5), which is the same on every Linux. Milliseconds. */
export const TICK_MS = 10;
const NANOSECONDS_PER_MS = 1_000_000;

/** A sample of a process. */
export interface ProcessSample {
  readonly pid: number;
  readonly parent: number;
  /** Processor time of all its threads so far, in milliseconds, with a resolution of ten. */
  readonly processorMs: number;
  /** Whether its main thread runs or waits for a core at this moment. */
  readonly runnable: boolean;
  /** Clock ticks from boot to its start. Together with the pid it identifies a process, since pids are reused. */
  readonly startTime: number;
  /** Resident memory in bytes, shared pages included. */
  readonly memoryBytes: number;
}

/** All running processes; none when there is no /proc. */
function allProcesses(): ProcessSample[] {
  return samplesOf(allPids());
}

/** The pids of all processes; none when there is no /proc. */
export function allPids(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid));
  } catch {
    return [];
  }
}

/** Samples the processes of `pids`; a process that has ended has no sample. */
export function samplesOf(pids: readonly number[]): ProcessSample[] {
  return pids.map(sampleProcess).filter((sample) => sample !== undefined);
}

/** The process `pid` and its descendants among `listed`; empty when it has ended or there is no /proc. */
export function processTree(pid: number, listed: readonly ProcessSample[] = allProcesses()): ProcessSample[] {
  const children = new Map<number, ProcessSample[]>();
  for (const row of listed) {
    const siblings = children.get(row.parent);
    if (siblings) siblings.push(row);
    else children.set(row.parent, [row]);
  }
  const root = listed.find((row) => row.pid === pid);
  const tree = root ? [root] : [];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]!.pid) ?? []));
  return tree;
}

/** What the processes of a browser are for: `utility` is any other than the named ones. */
export const PROCESS_KINDS = [
  'browser',
  'zygote',
  'renderer',
  'gpu',
  'network',
  'storage',
  'utility',
] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

const KINDS: Readonly<Record<string, ProcessKind>> = {
  zygote: 'zygote',
  renderer: 'renderer',
  'gpu-process': 'gpu',
  'network.mojom.NetworkService': 'network',
  'storage.mojom.StorageService': 'storage',
};

/**
 * What a process of a browser is for, by its command line. A process that a zygote has just forked still has the
 * zygote's.
 *
 * @returns undefined when it has ended.
 */
export function kindOf(pid: number): ProcessKind | undefined {
  let command: string;
  try {
    command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return undefined;
  }
  const type = /--type=([\w-]+)/.exec(command)?.[1];
  if (type === undefined) return 'browser';
  const service = /--utility-sub-type=([\w.]+)/.exec(command)?.[1];
  return KINDS[service ?? type] ?? 'utility';
}

/** Whether a process of a browser runs documents. */
export function isRenderer(pid: number): boolean {
  return kindOf(pid) === 'renderer';
}

/** Whether `pid` is a child of `ancestor`, or of one of its children, and so on. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  for (let at = sampleProcess(pid)?.parent; at !== undefined && at > 1; at = sampleProcess(at)?.parent)
    if (at === ancestor) return true;
  return false;
}

/** @returns false when the process has ended, or may not be sent signals. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Sends SIGKILL to what is left of a process group; one that has ended already is no error. */
export function killGroup(leader: number): void {
  killProcess(-leader);
}

/** Sends SIGKILL to a process; one that has ended already is no error. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * The time for which the main thread of a process has run or waited for a core, in milliseconds: the first two numbers of
 * /proc/PID/schedstat (https://docs.kernel.org/scheduler/sched-stats.html). A wait is added when it has ended.
 *
 * @returns 0 when it has ended, or the system does not count that.
 */
export function runnableMs(pid: number): number {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ').map(Number);
    return (ran + waited) / NANOSECONDS_PER_MS;
  } catch {
    return 0;
  }
}

/**
 * Samples a process by its /proc/PID/stat, proc(5): the command is in brackets and may hold spaces; zombies count as
 * ended.
 *
 * @returns undefined when it has ended, or there is no /proc.
 */
export function sampleProcess(pid: number): ProcessSample | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return {
      pid,
      parent: Number(fields[1]),
      processorMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      runnable: fields[0] === 'R',
      startTime: Number(fields[19]),
      memoryBytes: Number(fields[21]) * PAGE_BYTES,
    };
  } catch {
    return undefined;
  }
}
