import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';

/** The TCP ports that these processes listen on, whatever the address; in order. Linux only. */
export function listeningPorts(pids: readonly number[]): number[] {
  const held = new Set(pids.flatMap(socketsOf));
  const ports = new Set<number>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === LISTEN && held.has(inode!)) ports.add(Number.parseInt(local!.split(':')[1]!, 16));
    }
  }
  return [...ports].sort((a, b) => a - b);
}

/** The inodes of a process's sockets; none when it has ended. */
function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const names = attempt(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => {
    const target = attempt(() => readlinkSync(`${folder}/${name}`)) ?? '';
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
