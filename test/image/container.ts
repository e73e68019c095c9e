import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.ts';

const POLL_MS = 50;
const READY_MS = 60_000;

/** The image under test, from run.sh. */
export const IMAGE = process.env.PLATEN_IMAGE ?? 'localhost/platen';

/** A role in a container that has as little as a cluster would give it, and how it fares. */
export interface Container {
  readonly url: string;
  /** All it has written, to stdout and stderr. */
  readonly lines: readonly string[];
  readonly ended: Promise<number>;
  ready(): Promise<void>;
  /** Runs a program beside the role. @returns what it wrote; rejects when it fails. */
  exec(...command: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Sends SIGTERM. @returns the exit code, and how long the end took, in milliseconds. */
  stop(): Promise<{ code: number; tookMs: number }>;
  /** Ends it whatever its state; for the end of a test. */
  remove(): Promise<void>;
}

/**
 * Starts `platen <role>` with a read-only root, no capabilities and no way to gain any, in the machine's network, where
 * the test's database and broker listen.
 *
 * @param seccomp path of a profile, or `unconfined`.
 */
export async function startContainer(
  role: string,
  environment: Readonly<Record<string, string>>,
  seccomp: string,
): Promise<Container> {
  const port = await freePort();
  const name = `platen-${role}-${randomBytes(4).toString('hex')}`;
  const settings = Object.entries({
    PLATEN_HOST: '127.0.0.1',
    PORT: String(port),
    PLATEN_OPS_PORT: String(port),
    ...environment,
  });
  const child = spawn('podman', [
    ...['run', '--rm', '--name', name, '--network', 'host'],
    ...['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp:mode=1777,size=512m'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${seccomp}`],
    ...settings.flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...[IMAGE, role],
  ]);
  const lines = linesOf(child);
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    lines,
    ended,
    async ready() {
      const deadline = performance.now() + READY_MS;
      while (!(await responses(url))) {
        if (child.exitCode !== null || performance.now() > deadline) {
          throw new Error(
            `${role} did not become ready (${child.exitCode}):\n${lines.slice(-20).join('\n')}`,
          );
        }
        await sleep(POLL_MS);
      }
    },
    exec: (...command) => promisify(execFile)('podman', ['exec', name, ...command]),
    async stop() {
      const began = performance.now();
      await promisify(execFile)('podman', ['kill', '--signal', 'TERM', name]);
      return { code: await ended, tookMs: performance.now() - began };
    },
    async remove() {
      if (child.exitCode !== null) return;
      await promisify(execFile)('podman', ['rm', '--force', '--time', '0', name]).catch(() => undefined);
      await ended;
    },
  };
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return lines;
}

async function responses(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
