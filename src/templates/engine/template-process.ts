import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Call, READY, type Reply } from './protocol.ts';

/** Megabytes of JavaScript objects that one template may hold before its process ends. */
const HEAP_MB = 256;
const KEPT_STDERR_CHARS = 2000;

/** V8 ends a process that is out of memory by abort or trap. */
const OUT_OF_MEMORY_SIGNALS: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
const ABORT_EXIT_CODE = 134;

/** How a template process ended that nobody asked to. */
export class ProcessEnded extends Error {
  /** Whether the template that ran in it had used up the heap. */
  readonly outOfMemory: boolean;

  constructor(code: number | null, signal: NodeJS.Signals | null, stderr: string) {
    super(`A template process ended with ${signal ?? `code ${code}`}. ${stderr}`.trimEnd());
    this.name = 'ProcessEnded';
    this.outOfMemory = OUT_OF_MEMORY_SIGNALS.includes(signal) || code === ABORT_EXIT_CODE;
  }
}

/** One operating-system process that renders templates, one at a time. */
export class TemplateProcess {
  /** Resolves when it can take calls; rejects with ProcessEnded when it cannot be started. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone, however that came. */
  readonly ended: Promise<void>;
  private readonly child: ChildProcess;
  private settle: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  private stderr = '';

  constructor() {
    this.child = forkProcess();
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-KEPT_STDERR_CHARS);
    });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', () => resolve());
      this.child.once('error', () => resolve());
    });
    this.ready = new Promise((resolve, reject) => {
      this.settle = { resolve: () => resolve(), reject };
    });
    this.child.on('message', (message: Reply | typeof READY) => {
      if (message === READY) this.finish((waiting) => waiting.resolve({ output: '' }));
      else this.finish((waiting) => waiting.resolve(message));
    });
    this.child.once('error', (error) => this.finish((waiting) => waiting.reject(error)));
    this.child.once('exit', (code, signal) => {
      this.finish((waiting) => waiting.reject(new ProcessEnded(code, signal, this.stderr)));
    });
  }

  /** Rejects with ProcessEnded when the process ends before it answers. Only one call at a time. */
  async call(call: Call): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.child.send(call, (error) => {
        if (error) this.finish((waiting) => waiting.reject(error));
      });
    });
  }

  /** Ends it at once, whatever it is doing. A call under way never settles after this. */
  kill(): void {
    this.settle = undefined;
    this.child.kill('SIGKILL');
  }

  private finish(how: (waiting: NonNullable<TemplateProcess['settle']>) => void): void {
    const waiting = this.settle;
    this.settle = undefined;
    if (waiting !== undefined) how(waiting);
  }
}

function forkProcess(): ChildProcess {
  const entry = fileURLToPath(new URL(`./process-main${extname(import.meta.url)}`, import.meta.url));
  return fork(entry, {
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      '--disallow-code-generation-from-strings',
      // Nothing but reading code: no writing, no programs, no addons. A fault in the engine reaches no further.
      '--permission',
      '--allow-fs-read=*',
      '--allow-worker',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
    ],
    // None of this process's own environment: it holds secrets.
    env: { TZ: 'UTC' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
