import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { startError } from './embedded-database.ts';

/** How long an installer may be silent before it is killed, in milliseconds. */
export interface SilenceLimits {
  /** After its first line, which says that it has sent a request. */
  readonly firstMs: number;
  readonly laterMs: number;
}

export interface InstallerRun {
  /** Called with each line of its progress, for a person. */
  readonly report: (line: string) => void;
  /** Default: no limit. */
  readonly limits?: SilenceLimits;
  /** Environment variables in addition to those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Runs one of scripts/install-*.mjs.
 *
 * @throws EmbeddedDatabaseError with the first line of its stderr when it fails, or when it is silent for too long.
 * @throws Error when a signal has ended it, for example by Ctrl-C: then no other engine is tried.
 */
export async function runInstaller(
  script: string,
  args: readonly string[],
  { report, limits, environment = {} }: InstallerRun,
): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let lines = 0;
  let reason: string | undefined;
  let silence: NodeJS.Timeout | undefined;
  const heard = () => {
    lines += 1;
    clearTimeout(silence);
    if (limits === undefined) return;
    const ms = lines === 1 ? limits.firstMs : limits.laterMs;
    silence = setTimeout(() => {
      reason = `nothing has come for ${ms / 1000} s`;
      child.kill('SIGKILL');
    }, ms);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    heard();
    report(withoutName(line));
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.trim() !== '') reason ??= withoutName(line);
  });
  const ended = await new Promise<number | string>((resolve, reject) => {
    child.once('error', (error) => reject(startError(`${script} cannot be run: ${error.message}`)));
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  }).finally(() => clearTimeout(silence));
  if (typeof ended === 'string' && reason === undefined) throw new Error(`${script} was ended by ${ended}`);
  if (ended !== 0) throw startError(reason ?? `${script} ended with ${ended}`);
}

/** Installers begin their lines with a name in brackets. */
function withoutName(line: string): string {
  return line.trim().replace(/^\[\w+\] /, '');
}
