import { readFileSync, writeFileSync } from 'node:fs';

/** What podman installs for its own containers; it lets them make user namespaces. */
export const PODMAN_PROFILE = '/usr/share/containers/seccomp.json';

/** Every CLONE_NEW… flag of clone(2). */
const NAMESPACE_FLAGS = 0x7e020000;
const NAMESPACE_CALLS = ['clone3', 'unshare', 'setns', 'mount', 'umount', 'umount2', 'pivot_root'];
const [EPERM, ENOSYS] = [1, 38];

interface Profile {
  defaultErrno?: string;
  defaultErrnoRet?: number;
  syscalls: { names: string[]; action: string; args?: unknown[]; errnoRet?: number }[];
}

/**
 * Writes podman's profile without the namespace calls, as Docker and the RuntimeDefault of Kubernetes have it for a
 * container without CAP_SYS_ADMIN: they fail with EPERM, and clone3, whose flags no filter sees, is said not to exist.
 */
export function writeStrictProfile(path: string): void {
  const profile: Profile = JSON.parse(readFileSync(PODMAN_PROFILE, 'utf8'));
  const withheld = new Set(['clone', ...NAMESPACE_CALLS]);
  const kept = profile.syscalls
    .map((rule) => ({ ...rule, names: rule.names.filter((name) => !withheld.has(name)) }))
    .filter((rule) => rule.names.length > 0);
  const plainClone = { index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
  const strict: Profile = {
    ...profile,
    defaultErrno: 'EPERM',
    defaultErrnoRet: EPERM,
    syscalls: [
      ...kept,
      { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [plainClone] },
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
  writeFileSync(path, JSON.stringify(strict));
}
