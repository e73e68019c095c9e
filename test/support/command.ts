import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { inheritedEnvironment } from './inherited.ts';
import { PROGRAM } from './program.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `platen …` as an operator does.
 *
 * @param environment replaces this process's own (but see `inheritedEnvironment`).
 */
export async function runCommand(
  args: readonly string[],
  { stdin = '', environment = {} }: { stdin?: string | undefined; environment?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...inheritedEnvironment(), ...environment },
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
