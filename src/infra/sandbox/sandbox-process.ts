import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_FOLDER } from '../machine/package-folder.ts';
import { MEMORY_MB, READY, type Reply } from './serve.ts';

const KEPT_STDERR_CHARS = 2000;

/** V8 ends a process that has run out of memory by abort or trap. */
const OUT_OF_MEMORY_SIGNALS: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
const ABORT_EXIT_CODE = 134;

/** The end of a process that was not killed by its owner. */
export class ProcessEnded extends Error {
  /** Whether its call had used up the heap. */
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

/** What a process runs, and what it may use: see `SandboxOptions`. */
interface SandboxProgram {
  readonly entry: URL;
  readonly heapMb: number;
  readonly memoryMb?: number | undefined;
  readonly readable?: readonly string[];
  readonly startsPrograms?: boolean | undefined;
}

/** One operating-system process that runs `entry`, which calls `serve`; it does one call at a time. */
export class SandboxProcess {
  /** Resolves when the process can take calls; rejects when it cannot be started. */
  readonly ready: Promise<unknown>;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #waiting: Waiting | undefined;
  #stderr = '';

  constructor(program: SandboxProgram) {
    this.#child = forkProcess(program);
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

  /** Kills the process. A call in progress never settles after this. */
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

function forkProcess({
  entry,
  heapMb,
  memoryMb,
  readable = [],
  startsPrograms,
}: SandboxProgram): ChildProcess {
  return fork(fileURLToPath(entry), {
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--disallow-code-generation-from-strings',
      // The process may read the package's code; it may not read or write other files, start programs or load addons.
      '--permission',
      // It contains this code and node_modules.
      ...[PACKAGE_FOLDER, ...readable].map((folder) => `--allow-fs-read=${join(folder, '/')}`),
      '--allow-worker',
      ...(startsPrograms === true ? ['--allow-child-process'] : []),
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
    ],
    // Not this process's own environment, since that contains secrets.
    env: { TZ: 'UTC', ...(memoryMb !== undefined && { [MEMORY_MB]: String(memoryMb) }) },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
