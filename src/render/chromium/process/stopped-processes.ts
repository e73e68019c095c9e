import { type ChildProcess, spawn } from 'node:child_process';
import { signalProcess } from './processes.ts';

/**
 * The guard's script: it reads a line for each process that is stopped (`+ PID`) or continued (`- PID`). When its input
 * closes, it continues all processes that are still stopped.
 */
const GUARD = `
stopped=' '
while read -r what pid; do
  case $what in
    +) stopped="$stopped$pid " ;;
    -) case $stopped in *" $pid "*) stopped="\${stopped%% $pid *} \${stopped#* $pid }" ;; esac ;;
  esac
done
for pid in $stopped; do kill -CONT "$pid"; done`;

/**
 * Stops and continues processes of one browser. A browser whose connection closes ends by itself, except for its
 * stopped processes. If this process is killed meanwhile, a guard (a shell that is started at the first stop) continues
 * them, so that they end.
 */
export class StoppedProcesses {
  #guard: ChildProcess | undefined;

  /** @returns false when the process cannot be stopped, or no guard can be started. */
  stop(pid: number): boolean {
    const guard = this.#guard ?? this.#start();
    if (guard === undefined) return false;
    guard.stdin?.write(`+ ${pid}\n`);
    return signalProcess(pid, 'SIGSTOP');
  }

  goOn(pid: number): void {
    signalProcess(pid, 'SIGCONT');
    this.#guard?.stdin?.write(`- ${pid}\n`);
  }

  async end(): Promise<void> {
    const guard = this.#guard;
    if (guard === undefined) return;
    const ended = new Promise((resolve) => guard.once('exit', resolve));
    guard.stdin?.end();
    await ended;
  }

  /** Starts the guard in a process group of its own, so that it survives the end of this process's group. */
  #start(): ChildProcess | undefined {
    const guard = spawn('/bin/sh', ['-c', GUARD], {
      detached: true,
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const gone = () => {
      if (this.#guard === guard) this.#guard = undefined;
    };
    guard.once('error', gone).once('exit', gone);
    guard.stdin?.on('error', gone);
    guard.unref();
    if (guard.pid === undefined) return undefined;
    this.#guard = guard;
    return guard;
  }
}
