import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `platen …` as an operator does.
 *
 * @param environment in place of this process's own, but for PATH and HOME.
 */
export async function runCommand(
  args: readonly string[],
  { stdin = '', environment = {} }: { stdin?: string | undefined; environment?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: { PATH, HOME, ...environment },
    stdio: 'pipe',
  });
  child.stdin.end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}
