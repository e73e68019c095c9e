import { type ChildProcess, spawn } from 'node:child_process';

/** How long a process that was asked to end may take to write what it holds, before it is killed. */
const STOP_GRACE_MS = 15_000;

type LineListener = (line: string, stream: 'stdout' | 'stderr') => void;

/** A child that ends at the end of its stdin, which comes however its parent ends: the pipe breaks even by kill -9. */
export interface GuardedProcess {
  readonly pid: number;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves as `ended` does, once all that it wrote has been read. */
  readonly closed: Promise<number | string>;
  /** What it has written to stdout and stderr so far: the last 8 KB of each. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Calls back for each new line. */
  onLine(listener: LineListener): void;
  /** Writes to its stdin. */
  send(text: string): void;
  /** Ends its stdin and waits; kills it when it has not ended after 15 s. */
  stop(): Promise<void>;
}

/**
 * Starts a process in a process group of its own, so that a Ctrl-C in the terminal reaches the parent alone, which
 * then stops its children in good order.
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
  // Without listeners a child that dies early would take us with it.
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

/**
 * The same for a program that pays no heed to its stdin: a shell holds the pipe, and passes its end on as SIGTERM.
 * Arguments reach the program as they are.
 */
export function startWatched(command: string, args: readonly string[]): Promise<GuardedProcess> {
  // The watcher's own output is closed, or it would keep our pipes open after the program has ended.
  const script = `exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ cat <&3; kill -TERM $program; } >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait $program; code=$?
kill $watcher 2>/dev/null
exit $code`;
  return startGuarded('sh', ['-c', script, 'sh', command, ...args]);
}
