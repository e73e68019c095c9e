import { type ChildProcess, spawn } from 'node:child_process';
import { signalProcess } from './processes.ts';

/**
 * What the guard runs: it is told of each process that is stopped (`+ PID`) and that goes on again (`- PID`), and has
 * those go on that are left when nobody is there any more to tell it.
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
 * Stops processes of one browser, and has them go on. A browser whose connection closes ends by itself, but for what of
 * it is stopped: should this process be killed meanwhile, a guard of its own, a shell that is started for the first stop,
 * has it go on and end.
 */
export class StoppedProcesses {
  #guard: ChildProcess | undefined;

  /** @returns false when it cannot be stopped, or there would be nobody to guard it. */
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

  /** Resolves when the guard has ended. */
  async end(): Promise<void> {
    const guard = this.#guard;
    if (guard === undefined) return;
    const ended = new Promise((resolve) => guard.once('exit', resolve));
    guard.stdin?.end();
    await ended;
  }

  /** A process group of its own: what ends this one's does not end it. */
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
