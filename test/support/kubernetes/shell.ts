import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ControlPlane } from './control-plane.ts';
import { BIN } from './program.ts';

/** For lines that wait; what they wait for has bounds of its own. */
const LIMIT_MS = 300_000;

/**
 * Runs lines of shell as a person would, with kubectl and Helm on the path and a namespace chosen.
 *
 * @returns their output.
 * @throws with their output, when one of them fails.
 */
export async function runLines(
  lines: string,
  plane: Pick<ControlPlane, 'kubeconfigPath'>,
  namespace: string,
  helm: 'helm3' | 'helm4' = 'helm4',
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-shell-'));
  try {
    const KUBECONFIG = join(folder, 'kubeconfig');
    await copyFile(plane.kubeconfigPath, KUBECONFIG);
    await symlink(join(BIN, helm), join(folder, 'helm'));
    const env = { PATH: [folder, BIN, process.env.PATH].join(':'), HOME: folder, KUBECONFIG };
    const run = (command: string, args: string[]) =>
      promisify(execFile)(command, args, { env, timeout: LIMIT_MS });
    await run('kubectl', ['config', 'set-context', '--current', `--namespace=${namespace}`]);
    return (await run('bash', ['-euo', 'pipefail', '-c', lines])).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
