import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a program. @returns what it printed. @throws Error with all that it said when it fails. */
export async function command(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string | undefined; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  try {
    const { stdout } = await run(program, args, { ...options, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`, {
      cause: error,
    });
  }
}

/** Whether all of these programs can be started. */
export async function have(...programs: readonly string[]): Promise<boolean> {
  for (const program of programs) {
    const found = await run('sh', ['-c', `command -v ${program}`]).catch(() => undefined);
    if (found === undefined) return false;
  }
  return true;
}
