import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { READY, type Reply } from './serve.ts';

/** Contains this code and node_modules, whether it runs from src or from dist. */
const PACKAGE_FOLDER = fileURLToPath(new URL('../../', import.meta.url));
const KEPT_STDERR_CHARS = 2000;

/** V8 ends a process that is out of memory by abort or trap. */
const OUT_OF_MEMORY_SIGNALS: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
const ABORT_EXIT_CODE = 134;

/** How a process ended that was not killed by its owner. */
export class ProcessEnded extends Error {
  /** Whether the work in it had used up the heap. */
  readonly outOfMemory: boolean;

  constructor(code: number | null, signal: NodeJS.Signals | null, stderr: string) {
    super(`The process ended with ${signal ?? `code ${code}`}. ${stderr}`.trimEnd());
    this.name = 'ProcessEnded';
    this.outOfMemory = OUT_OF_MEMORY_SIGNALS.includes(signal) || code === ABORT_EXIT_CODE;
  }
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** One operating-system process that runs `entry`, which calls `serve`; it does one call at a time. */
export class SandboxProcess {
  /** Resolves when it can take calls; rejects when it cannot be started. */
  readonly ready: Promise<unknown>;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #waiting: Waiting | undefined;
  #stderr = '';

  constructor(entry: URL, heapMb: number) {
    this.#child = forkProcess(entry, heapMb);
    this.ready = new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#takeCall()?.reject(error);
        resolve();
      });
      this.#child.once('exit', (code, signal) => {
        this.#takeCall()?.reject(new ProcessEnded(code, signal, this.#stderr));
        resolve();
      });
    });
    this.#child.on('message', (message: Reply | typeof READY) => {
      this.#takeCall()?.resolve(message === READY ? { output: undefined } : message);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR_CHARS);
    });
  }

  /** Rejects with ProcessEnded when the process ends before it replies. Only one call at a time. */
  call(call: object): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#child.send(call, (error) => {
        if (error) this.#takeCall()?.reject(error);
      });
    });
  }

  /** Ends it at once, whatever it is doing. A call under way never settles after this. */
  kill(): void {
    this.#waiting = undefined;
    this.#child.kill('SIGKILL');
  }

  #takeCall(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

function forkProcess(entry: URL, heapMb: number): ChildProcess {
  return fork(fileURLToPath(entry), {
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--disallow-code-generation-from-strings',
      // It may read the package's code, and otherwise neither read, write, start programs nor load addons.
      '--permission',
      `--allow-fs-read=${PACKAGE_FOLDER}`,
      '--allow-worker',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
    ],
    // Nothing of this process's own environment: it holds secrets.
    env: { TZ: 'UTC' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
