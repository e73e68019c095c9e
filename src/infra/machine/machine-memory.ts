import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';

/** The memory that this process and its child processes may use, in bytes. */
export interface MachineMemory {
  /** The tightest limit of the control groups that contain this process; the machine's memory where there is none. */
  readonly total: number;
  /** Bytes of `total` that are free now. Cached files that can be dropped count as free. */
  available(): number;
}

/** A folder of the memory controller, and its file names: version 2 of control groups, or version 1. */
interface GroupFiles {
  readonly folder: string;
  readonly limit: string;
  readonly used: string;
  /** Field of `memory.stat`: cached files that have not been used lately. */
  readonly cached: string;
}

const ROOT = '/sys/fs/cgroup';

/** Reads the memory limits that apply to this process: the groups once, the memory left at each call of `available`. */
export function machineMemory(): MachineMemory {
  const machine = totalmem();
  const limited = memoryGroups(readText('/proc/self/cgroup') ?? '').filter(
    (group) => limitOf(group) < machine,
  );
  return {
    total: Math.min(machine, ...limited.map(limitOf)),
    available: () => Math.min(availableOnMachine(machine), ...limited.map(leftIn)),
  };
}

/** Its own group and those above, whose limits apply too. @param memberships of /proc/self/cgroup, cgroups(7). */
export function memoryGroups(memberships: string): GroupFiles[] {
  return memberships.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) return [];
    if (controllers === '') {
      const names = { limit: 'memory.max', used: 'memory.current', cached: 'inactive_file' };
      return upwards(path).map((part) => ({ folder: join(ROOT, part), ...names }));
    }
    if (!controllers!.split(',').includes('memory')) return [];
    const names = {
      limit: 'memory.limit_in_bytes',
      used: 'memory.usage_in_bytes',
      cached: 'total_inactive_file',
    };
    // In a container the files are in the root folder, whatever the path is outside.
    return upwards(path).map((part) => ({ folder: join(ROOT, 'memory', part), ...names }));
  });
}

function upwards(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...upwards(above)];
}

function limitOf({ folder, limit }: GroupFiles): number {
  // "max" or a missing file means no limit.
  return Number.parseInt(readText(join(folder, limit)) ?? '', 10) || Number.POSITIVE_INFINITY;
}

function leftIn(group: GroupFiles): number {
  const { folder, used, cached } = group;
  const inUse = Number.parseInt(readText(join(folder, used)) ?? '0', 10);
  const stat = readText(join(folder, 'memory.stat')) ?? '';
  const files = new RegExp(`^${cached} (\\d+)$`, 'm').exec(stat)?.[1] ?? '0';
  return Math.max(0, limitOf(group) - inUse + Number(files));
}

function availableOnMachine(total: number): number {
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(readText('/proc/meminfo') ?? '')?.[1];
  return kilobytes === undefined ? total : Number(kilobytes) * 1024;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
