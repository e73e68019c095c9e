import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Where scripts/install-go-programs.mjs puts what it builds. */
export const BIN = fileURLToPath(new URL('../../../.cache/go/bin', import.meta.url));
const POLL_MS = 50;
const SHOWN_LINES = 15;

/** A program of the cluster, at work. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  /** Where its output is written. */
  readonly logFile: string;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Sends a signal, and resolves when the program has ended. An ended one is left alone. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
  /** Resolves when `holds` does; fails with the end of its log when it ends before, or the time is up. */
  until(what: string, holds: () => Promise<boolean>, limitMs: number): Promise<void>;
}

/**
 * Starts a program with its output in `<folder>/<name>.log`. The kernel kills it when this process ends, however that
 * ends.
 *
 * @throws when it cannot be started.
 */
export async function startProgram(
  name: string,
  args: readonly string[],
  options: { readonly folder: string; readonly command?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Program> {
  const command = options.command ?? join(BIN, name);
  const logFile = join(options.folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.env },
    // Outside the terminal's process group: a Ctrl-C is for the runner, which ends its programs in order.
    detached: true,
  });
  closeSync(log);
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  let how: number | string | undefined;
  void ended.then((code) => {
    how = code;
  });
  return {
    name,
    pid: child.pid!,
    logFile,
    ended,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
    until: async (what, holds, limitMs) => {
      const deadline = performance.now() + limitMs;
      while (!(await holds())) {
        if (how !== undefined || performance.now() > deadline) {
          const state = how === undefined ? `not after ${limitMs} ms` : `ended with ${how}`;
          throw new Error(`${name}: ${what}: ${state}\n${await tail(logFile)}`);
        }
        await sleep(POLL_MS);
      }
    },
  };
}

async function tail(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim().split('\n').slice(-SHOWN_LINES).join('\n');
}
