import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HUNG_MS } from './eventually.ts';
import { inheritedEnvironment } from './inherited.ts';
import { freePort } from './ports.ts';
import { PROGRAM } from './program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const POLL_MS = 50;
/** How long a response is waited for, in milliseconds. */
const POLL_LIMIT_MS = 2000;
/** In milliseconds. A process that has inherited the pipes of an ended one may hold them open for longer. */
const LAST_WORDS_MS = 2000;
/** sysconf(_SC_CLK_TCK), which is this on every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;

// A runner without a listener for the signal ends without its exit event, and would leave its processes behind.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.once(signal, () => process.exit(code));
}

/** One line of a role's log. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface RoleProcess {
  readonly role: string;
  readonly pid: number;
  /** Where its HTTP server listens: http://127.0.0.1:port. */
  readonly url: string;
  /** Every JSON line it has logged so far. */
  readonly logs: readonly LogLine[];
  /** Everything else it has written, to stdout and stderr. */
  readonly output: readonly string[];
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves when GET /readyz responds with 200; rejects when the process ends before, or the time is up. */
  ready(limitMs?: number): Promise<void>;
  /** Resolves with the first line, past or to come, that fits. */
  logged(fits: (line: LogLine) => boolean, limitMs?: number): Promise<LogLine>;
  /** Sends a signal to this process alone. */
  signal(signal: NodeJS.Signals): void;
  /** Ends it, by default by SIGTERM, and waits until it and all its descendants are gone. */
  end(signal?: NodeJS.Signals, limitMs?: number): Promise<number | string>;
}

/**
 * Starts a role as an operator would, in a separate process. It is killed when this process exits, in case a test has
 * not ended it.
 *
 * @param environment replaces this process's own (but see `inheritedEnvironment`); PORT defaults to a free one, and
 * PLATEN_OPS_PORT to the same.
 */
export async function startRole(role: string, environment: NodeJS.ProcessEnv = {}): Promise<RoleProcess> {
  const port = environment.PORT ?? String(await freePort());
  const child = spawn(process.execPath, [PROGRAM, role], {
    cwd: root,
    env: {
      ...inheritedEnvironment(),
      PLATEN_OPS_PORT: port,
      // Whatever can be reached from here, tests fetch nothing.
      PLATEN_EMBEDDED: 'mongo-java-server',
      ...environment,
      PORT: port,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endOf(child);
  const killForgotten = () => void child.kill('SIGKILL');
  process.once('exit', killForgotten);
  void ended.then(() => process.removeListener('exit', killForgotten));

  const logs: LogLine[] = [];
  const output: string[] = [];
  collectLines(child, logs, output);
  let asked = false;
  void ended.then((how) => {
    if (!asked) console.error(`${role} ended by itself with ${how}:\n${tail(logs, output)}`);
  });
  const url = `http://127.0.0.1:${port}`;

  /** Polls until there is a result, the process is gone, or the time is up. */
  const poll = async <T>(
    what: string,
    limitMs: number,
    ask: () => Promise<T | undefined> | T | undefined,
  ) => {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const reply = await ask();
      if (reply !== undefined) return reply;
      const gone = child.exitCode !== null || child.signalCode !== null;
      if (gone) {
        await ended;
        const last = await ask();
        if (last !== undefined) return last;
      }
      if (gone || performance.now() > deadline) {
        const state = gone ? `ended with ${child.exitCode ?? child.signalCode}` : `not after ${limitMs} ms`;
        throw new Error(`${role}: ${what}: ${state}\n${tail(logs, output)}`);
      }
      await sleep(POLL_MS);
    }
  };

  return {
    role,
    pid: child.pid!,
    url,
    logs,
    output,
    ended,
    ready: async (limitMs = HUNG_MS) => {
      await poll('ready', limitMs, () =>
        isReady(url).then(
          (ready) => ready || undefined,
          // PORT may be none, in a test of what is rejected.
          () => undefined,
        ),
      );
    },
    logged: (fits, limitMs = HUNG_MS) => poll('log line', limitMs, () => logs.find(fits)),
    signal: (signal) => {
      asked = true;
      child.kill(signal);
    },
    end: async (signal = 'SIGTERM', limitMs = HUNG_MS) => {
      asked = true;
      const family = descendants(child.pid!);
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
      const how = await ended;
      clearTimeout(timer);
      await assertGone(family);
      return how;
    },
  };
}

/**
 * Whether GET /readyz responds with 200. By node:http: a fetch that nobody responds to costs milliseconds of processor time,
 * and every start has dozens of them.
 */
function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get(`${url}/readyz`, { timeout: POLL_LIMIT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
  });
}

/**
 * Resolves with the exit code of a process, or the signal that ended it, once what it wrote last has been read too: that
 * may come a moment after the news of its end.
 */
export function endOf(child: ChildProcess): Promise<number | string> {
  const closed = new Promise((resolve) => {
    child.once('close', resolve);
  });
  return new Promise((resolve) => {
    child.once('exit', async (code, signal) => {
      await Promise.race([closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
      resolve(code ?? signal ?? 'unknown');
    });
  });
}

function collectLines(child: ChildProcess, logs: LogLine[], output: string[]): void {
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => {
      try {
        const parsed: unknown = JSON.parse(line);
        if (typeof parsed !== 'object' || parsed === null) throw new Error('no log line');
        logs.push(parsed as LogLine);
      } catch {
        output.push(line);
      }
    });
  }
}

function tail(logs: readonly LogLine[], output: readonly string[]): string {
  return [...logs.slice(-10).map((line) => JSON.stringify(line)), ...output.slice(-20)].join('\n');
}

/** A process, distinguished from a later one with the same pid by its start time. */
export interface ProcessId {
  readonly pid: number;
  readonly startedAt: string;
  readonly command: string;
}

/** Every process below this one at present, children of children included. Linux only. */
export function descendants(pid: number): ProcessId[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = Number(statOf(Number(entry))?.[1]);
    if (Number.isNaN(parent)) continue;
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const below = (parent: number): number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid).map(identify);
}

/** Resolves when all these processes are gone; fails when one still exists after the limit. */
export async function assertGone(processes: readonly ProcessId[], limitMs = HUNG_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const alive = processes.filter(isAlive);
    if (alive.length === 0) return;
    assert.ok(
      performance.now() < deadline,
      `still running: ${alive.map(({ pid, command }) => `${pid} ${command.slice(0, 120)}`).join('; ')}`,
    );
    await sleep(POLL_MS);
  }
}

/** Every process that was started with this variable (`NAME=value`) in its environment, by whomever. Linux only. */
export function processesWith(variable: string): ProcessId[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && environmentOf(pid).includes(variable))
    .map(identify)
    .filter(isAlive);
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // It ended meanwhile, or is another user's.
    return [];
  }
}

/** What holds of a process as long as it runs; a zombie does not run. */
export function isAlive({ pid, startedAt }: ProcessId): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat[0] !== 'Z' && stat[19] === startedAt;
}

export function identify(pid: number): ProcessId {
  const command = procFile(pid, 'cmdline').replaceAll('\0', ' ');
  return { pid, startedAt: statOf(pid)?.[19] ?? '', command };
}

/** What proc(5) says of a process in a file of that name; empty when it has ended. */
export function procFile(pid: number | string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Processor time that a process has used so far, in seconds; 0 once it is gone. Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = statOf(pid);
  return stat === undefined ? 0 : (Number(stat[11]) + Number(stat[12])) / CLOCK_TICKS_PER_SECOND;
}

/** The fields of /proc/pid/stat from the third on: state, parent, …; the 20th field from there is the start time. */
function statOf(pid: number): string[] | undefined {
  if (!Number.isInteger(pid)) return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
