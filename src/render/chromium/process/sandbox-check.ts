import { readFileSync } from 'node:fs';
import type { BrowserStatus } from '../../renderer.ts';
import { isRoot, type LaunchOptions, sandboxIsRefused } from './launch.ts';
import { kindOf, processTree } from './processes.ts';

/**
 * `required`: no browser runs without it; `preferred`: where it is rejected, the browser runs without it and a warning
 * is logged; `off`: it is never used.
 */
export type SandboxPolicy = 'required' | 'preferred' | 'off';

/** The sandbox is required, and not available. */
export class SandboxMissing extends Error {
  constructor(why: string) {
    super(
      `PLATEN_SANDBOX is required, and Chromium's sandbox is not in force: ${why}. docs/image.md says what it needs.`,
    );
    this.name = 'SandboxMissing';
  }
}

/** Why to start without the sandbox; undefined to start with it. @throws SandboxMissing when it is required. */
export async function reasonAgainstSandbox(
  policy: SandboxPolicy,
  launch: LaunchOptions,
): Promise<string | undefined> {
  const reason = await findReason(policy, launch);
  if (reason !== undefined && policy === 'required') throw new SandboxMissing(reason);
  return reason;
}

async function findReason(policy: SandboxPolicy, launch: LaunchOptions): Promise<string | undefined> {
  if (policy === 'off') return 'PLATEN_SANDBOX is off';
  if (isRoot()) return 'Chromium refuses to run sandboxed as root';
  return (await sandboxIsRefused(launch)) ? 'it is refused here' : undefined;
}

/**
 * Whether a browser's renderers are in its sandbox; `unknown` where that cannot be determined. Inspects the kernel's
 * data on the processes. A sandboxed renderer is in a pid namespace below the browser's, and has a filter of system
 * calls that the browser does not have (in a container both have the container's filter).
 *
 * @param pid the root of a browser's processes, one of which is a renderer.
 */
export function sandboxOf(pid: number): BrowserStatus['sandbox'] {
  const members = processTree(pid).map((member) => ({
    kind: kindOf(member.pid),
    status: statusOf(member.pid),
  }));
  const seen = members.filter(({ status }) => status !== undefined);
  const browser = seen.filter(({ kind }) => kind === 'browser').map(({ status }) => status!);
  const renderers = seen.filter(({ kind }) => kind === 'renderer').map(({ status }) => status!);
  if (renderers.length === 0 || browser.length === 0) return 'unknown';
  const depth = Math.max(...browser.map(({ namespaces }) => namespaces));
  const filters = Math.max(...browser.map((status) => status.filters));
  return renderers.every((renderer) => renderer.namespaces > depth && renderer.filters > filters)
    ? 'on'
    : 'off';
}

/** From proc(5): how many pid namespaces, and system-call filters (before Linux 5.9: whether there are any). */
function statusOf(pid: number): { readonly namespaces: number; readonly filters: number } | undefined {
  const text = read(pid, 'status');
  const pids = /^NSpid:\s*(.+)$/m.exec(text)?.[1];
  const filters = /^Seccomp_filters:\s*(\d+)$/m.exec(text)?.[1] ?? /^Seccomp:\s*(\d+)$/m.exec(text)?.[1];
  if (pids === undefined || filters === undefined) return undefined;
  return { namespaces: pids.trim().split(/\s+/).length, filters: Number(filters) };
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    // It has ended, or there is no /proc.
    return '';
  }
}
