import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('role-entry.ts', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const LINES_KEPT = 500;

export interface RoleProcess {
  readonly pid: number;
  readonly url: string;
  /** The last lines it logged, parsed. */
  readonly log: Record<string, unknown>[];
  /** Sends a signal and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Asks it to stop, and waits; kills it when it has not after half a minute. @returns its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts `platen <role>` from the sources and waits until it is ready. Its environment is the given one alone, and what
 * node needs; the port is a free one unless PORT is given.
 *
 * @throws with what it wrote when it ends before it is ready.
 */
export async function startRole(role: string, environment: Record<string, string>): Promise<RoleProcess> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = spawn(process.execPath, [entry, role], {
    env: {
      PATH,
      HOME,
      ...(TMPDIR === undefined ? {} : { TMPDIR }),
      PORT: '0',
      PLATEN_HOST: '127.0.0.1',
      PLATEN_LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  const log: Record<string, unknown>[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-8000);
    if (process.env.PLATEN_TEST_OUTPUT !== undefined) process.stderr.write(chunk);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${role} was not ready in time:\n${stderr}`));
    }, START_TIMEOUT_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (process.env.PLATEN_TEST_OUTPUT !== undefined) process.stderr.write(`${role}: ${line}\n`);
      const entry = parse(line);
      log.push(entry);
      if (log.length > LINES_KEPT) log.shift();
      if (entry.msg !== 'ready') return;
      clearTimeout(timer);
      resolve(entry.port as number);
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${role} ended with code ${code}:\n${stderr}${JSON.stringify(log.slice(-3))}`));
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid!,
    url: `http://127.0.0.1:${port}`,
    log,
    async kill(signal) {
      await end(signal);
    },
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
      const code = await end('SIGTERM');
      clearTimeout(timer);
      return code;
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { msg: line };
  }
}

/** The processes that descend from one, nearest first. */
export function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      // Field 4 of proc(5)'s stat, counted from behind the command's closing bracket.
      const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It has just ended.
    }
  }
  const found: number[] = [];
  for (
    let level = children.get(root) ?? [];
    level.length > 0;
    level = level.flatMap((pid) => children.get(pid) ?? [])
  ) {
    found.push(...level);
  }
  return found;
}

/** Whether a process runs (a zombie does not). */
export function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)![0] !== 'Z';
  } catch {
    return false;
  }
}
