import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { killProcess } from '../../../src/render/chromium/process/processes.ts';
import { procFile } from '../../support/processes.ts';

/**
 * Ends every process of a node's containers as a power cut does: first their network, so that their end is not
 * announced (a living kernel would close their connections), then all of them at once, with their shims.
 *
 * @param cgroup the cgroup that contains the node's pods.
 * @param socket the container runtime's, by which its shims are known.
 */
export function cutPower(cgroup: string, socket: string): void {
  const contained = processesIn(`${cgroup}/`);
  const own = networkOf('self');
  for (const [network, members] of Map.groupBy(contained, networkOf)) {
    if (network !== undefined && network !== own) disconnect(members);
  }
  const shims = processes().filter((pid) => {
    const command = procFile(pid, 'cmdline');
    return command.includes('containerd-shim') && command.includes(socket);
  });
  // Processes started meanwhile are in the cgroup as well.
  for (const pid of [...shims, ...contained, ...processesIn(`${cgroup}/`)]) killProcess(Number(pid));
}

/** The processes in a cgroup, or below it, as they are numbered here. */
export function processesIn(cgroup: string): string[] {
  return processes().filter((pid) => procFile(pid, 'cgroup').includes(cgroup));
}

function processes(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

function networkOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/**
 * Cuts off a network by any of the processes in it: pages of browsers come and go meanwhile. Processes of a sandbox
 * have a network namespace of their own, which leads nowhere.
 */
function disconnect(members: readonly string[]): void {
  for (const pid of members) {
    if (!procFile(pid, 'net/dev').includes('eth0:')) continue;
    try {
      execFileSync('nsenter', ['--net', '--target', pid, 'ip', 'link', 'set', 'eth0', 'down']);
      return;
    } catch (error) {
      if (networkOf(pid) !== undefined) throw error;
    }
  }
}
