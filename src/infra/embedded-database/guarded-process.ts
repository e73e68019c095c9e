import { type ChildProcess, spawn } from 'node:child_process';

/** How long a process may take to write its data after a request to stop, before it is killed, in milliseconds. */
const STOP_GRACE_MS = 15_000;

type LineListener = (line: string, stream: 'stdout' | 'stderr') => void;

/** A child that ends when its stdin does, so however its parent ends: even `kill -9` closes the pipe. */
export interface GuardedProcess {
  readonly pid: number;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves as `ended` does, when all its output has been read. */
  readonly closed: Promise<number | string>;
  /** Its output on stdout and stderr so far: the last 8,192 characters of each. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Calls back for each new line. */
  onLine(listener: LineListener): void;
  /** Writes to its stdin. */
  send(text: string): void;
  /** Closes its stdin and waits; kills it when it has not ended after 15 s. */
  stop(): Promise<void>;
}

/**
 * Starts a process in its own process group, so that a Ctrl-C in the terminal reaches only the parent, which then stops
 * its children in order.
 *
 * @throws when the program cannot be started at all.
 */
export async function startGuarded(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): Promise<GuardedProcess> {
  const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const closed = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  // Without listeners, the errors of a child that dies early would end this process.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  void ended.then(() => child.stdin.destroy());

  const output = { stdout: '', stderr: '' };
  const listeners: LineListener[] = [];
  collect(child, 'stderr', output, listeners);
  collect(child, 'stdout', output, listeners);
  return {
    pid: child.pid!,
    ended,
    closed,
    output,
    onLine: (listener) => void listeners.push(listener),
    send: (text) => void child.stdin.write(text),
    stop: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

const KEPT_CHARACTERS = 8192;

function collect(
  child: ChildProcess,
  name: 'stdout' | 'stderr',
  output: { stdout: string; stderr: string },
  listeners: readonly LineListener[],
): void {
  let rest = '';
  child[name]!.setEncoding('utf8').on('data', (text: string) => {
    output[name] = (output[name] + text).slice(-KEPT_CHARACTERS);
    if (listeners.length === 0) return;
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) for (const listener of listeners) listener(line, name);
  });
}

/** The same for a program that ignores its stdin: a shell holds the pipe, and sends SIGTERM when it ends. */
export function startWatched(command: string, args: readonly string[]): Promise<GuardedProcess> {
  // The watcher's output is closed, because otherwise it would keep our pipes open after the program has ended.
  const script = `exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ cat <&3; kill -TERM $program; } >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait $program; code=$?
kill $watcher 2>/dev/null
exit $code`;
  return startGuarded('sh', ['-c', script, 'sh', command, ...args]);
}
