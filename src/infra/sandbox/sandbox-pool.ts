import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../async/backoff.ts';
import { TimeoutError, within } from '../async/timeout.ts';
import { unlessAborted } from '../async/unless-aborted.ts';
import { type ErrorCode, PlatenError, type PlatenErrorOptions } from '../errors/registry.ts';
import { SandboxQueue } from '../scheduling/sandbox-processes.ts';
import { ProcessEnded, SandboxProcess } from './sandbox-process.ts';
import type { Reply } from './serve.ts';

/**
 * Runs work that may loop or allocate without end, in processes that can be killed.
 *
 * Threads are not sufficient. A thread that exceeds its heap in one allocation ends the whole process ("Reached heap
 * limit", exit 134), and `terminate()` waits for ever on a regular expression that is being replaced; both were seen
 * with Node 24 and `resourceLimits`. See docs/decisions.
 */
export interface Sandbox {
  /**
   * The handler's result for `call`. The call may be restarted once when others wait, so the handler must have no side
   * effects. Rejects with SandboxError, or with the signal's reason when that aborts; in each case the work has ended.
   *
   * @param timeoutMs milliseconds that the work itself may take; waiting for a free process does not count.
   */
  run(call: object, timeoutMs: number, terms?: CallTerms): Promise<unknown>;
  /** Ends every process; calls in progress or waiting reject with `closed`. */
  close(): Promise<void>;
}

export interface CallTerms {
  /** The account of the call. Calls without one count as those of one account. */
  readonly account?: string | undefined;
  /** Milliseconds until the call must be done, including its wait. */
  readonly withinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface SandboxOptions {
  /** A module that calls `serve`. */
  readonly entry: URL;
  /**
   * Number of calls that run concurrently, each in its own process of about 60 MB. The first process is started at
   * once, the others when more calls wait than processes are starting.
   */
  readonly processes: number;
  /** Whether the first process is started by the first call, for work that few installations have. Default false. */
  readonly startsLate?: boolean;
  /** Megabytes of JavaScript objects that one call may hold before its process ends. */
  readonly heapMb: number;
  /**
   * Megabytes of memory that a process may take in all, with the bytes that its objects lie beside, such as buffers: one
   * that takes more ends as one without heap. Default: no bound but that of the heap.
   */
  readonly memoryMb?: number | undefined;
  /** Folders that its processes may read, besides the package's. */
  readonly readable?: readonly string[];
  /** Whether its processes may start programs, which are bound by nothing. Default false. */
  readonly startsPrograms?: boolean | undefined;
  readonly logger?: SandboxLogger | undefined;
  /** A number in [0, 1), for the time between tries to start a process; default Math.random. */
  readonly random?: () => number;
  /** A call that takes longer is slow: see scheduling/sandbox-processes.ts. Default 250 ms. */
  readonly sliceMs?: number;
}

export interface SandboxLogger {
  warn(fields: object, message: string): void;
}

/**
 * - `error`: the handler threw; the message is that of the error
 * - `timeout`: the call took longer than `timeoutMs`, and its process was killed
 * - `late`: the time of `withinMs` was over before the call was done, though it took no longer than `timeoutMs`, or had
 *   not begun
 * - `memory`: the call used up the heap of its process, or the memory that it may have in all
 * - `lost`: the process ended for another reason, or none can be started
 * - `closed`: the sandbox is closed
 */
export type SandboxFailure = 'error' | 'timeout' | 'late' | 'memory' | 'lost' | 'closed';

export class SandboxError extends Error {
  readonly reason: SandboxFailure;

  constructor(reason: SandboxFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SandboxError';
    this.reason = reason;
  }
}

/** What each failure is for a caller. */
export type CallerErrors = Readonly<
  Record<SandboxFailure, readonly [code: ErrorCode, message?: string, options?: PlatenErrorOptions]>
>;

export function errorForCaller(failed: SandboxError, errors: CallerErrors): PlatenError {
  const [code, message, options] = errors[failed.reason];
  return new PlatenError(code, message, { cause: failed, ...options });
}

/** The pause between a process that could not be started and the next try, in milliseconds. */
const FIRST_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 5000;

const SLICE_MS = 250;
/** Timers set for the same time may fire in either order, up to this many milliseconds after each other. */
const TIMER_SLACK_MS = 50;
/** The reply to a call that was preempted. */
const PREEMPTED = Symbol('preempted');

interface Work {
  readonly call: object;
  readonly account: string;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/** Creates a sandbox, and starts a process at once, so that the first call finds it ready, unless `startsLate`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  return new ProcessPool(options);
}

class ProcessPool implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #processes = new Set<SandboxProcess>();
  readonly #idle: SandboxProcess[] = [];
  readonly #busy = new Set<SandboxProcess>();
  readonly #queue: SandboxQueue<SandboxProcess>;
  readonly #closing = new AbortController();
  /** The processes that the pool keeps running; each is replaced when it has ended. */
  #size = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#queue = new SandboxQueue({
      processes: options.processes,
      sliceMs: options.sliceMs ?? SLICE_MS,
      idle: () => this.#idle.length,
      take: () => this.#takeIdle(),
      starting: () => this.#starting,
    });
    if (options.startsLate !== true) this.#addProcess();
  }

  async run(call: object, timeoutMs: number, terms: CallTerms = {}): Promise<unknown> {
    const { account = '', withinMs, signal } = terms;
    const late = lateAfter(withinMs);
    const stop = AbortSignal.any([this.#closing.signal, late.signal, ...(signal ? [signal] : [])]);
    try {
      const work: Work = { call, account, timeoutMs, stop };
      let reply = await this.#tryOnce(work, true);
      while (reply === PREEMPTED) reply = await this.#tryOnce(work, false);
      if ('error' in reply) throw new SandboxError('error', reply.error);
      return reply.output;
    } finally {
      late.dispose();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new SandboxError('closed', 'The sandbox is closed.'));
    const all = [...this.#processes];
    for (const process of all) process.kill();
    await Promise.all(all.map((process) => process.ended));
  }

  /** Runs the call in the next process for which it gets a permit. */
  async #tryOnce(
    { call, account, timeoutMs, stop }: Work,
    mayPreempt: boolean,
  ): Promise<Reply | typeof PREEMPTED> {
    const granted = this.#queue.acquireProcess(account, mayPreempt, stop);
    this.#serve();
    const { process, preempted, release } = await granted;
    try {
      const working = Promise.race([process.call(call), preempted.then((): typeof PREEMPTED => PREEMPTED)]);
      const reply = await callWithin(process, working, timeoutMs, stop);
      if (reply !== PREEMPTED && this.#processes.has(process)) this.#idle.push(process);
      return reply;
    } finally {
      this.#busy.delete(process);
      release();
      this.#serve();
    }
  }

  /** Called only when a permit is granted, and then an idle process exists. */
  #takeIdle(): SandboxProcess {
    const process = this.#idle.pop()!;
    this.#busy.add(process);
    return process;
  }

  #serve(): void {
    this.#queue.grant();
    const isShort = this.#idle.length === 0 && this.#queue.waiting() > this.#starting;
    if (isShort && this.#size < this.#options.processes) this.#addProcess();
  }

  get #starting(): number {
    return this.#size - this.#idle.length - this.#busy.size;
  }

  #addProcess(): void {
    this.#size += 1;
    void this.#keepOneRunning();
  }

  /** Starts a process, and a new one whenever it has ended. */
  async #keepOneRunning(): Promise<void> {
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      let retryInMs = 0;
      const process = new SandboxProcess(this.#options);
      this.#processes.add(process);
      try {
        await process.ready;
        failures = 0;
        this.#idle.push(process);
        this.#serve();
      } catch (error) {
        failures += 1;
        retryInMs = this.#waitAfter(failures);
        this.#reportFailedStart(error, retryInMs);
      }
      await process.ended;
      this.#remove(process);
      if (retryInMs > 0) await sleep(retryInMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  #remove(process: SandboxProcess): void {
    this.#processes.delete(process);
    const index = this.#idle.indexOf(process);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  #reportFailedStart(error: unknown, retryInMs: number): void {
    this.#options.logger?.warn({ err: error, retryInMs }, 'A sandbox process could not be started.');
    if (this.#processes.size > 1) return;
    const failed = new SandboxError('lost', 'No sandbox process can be started.', error);
    this.#queue.rejectWaiting(failed);
  }

  /** Milliseconds from the last of `failures` consecutive failures until the next try. */
  #waitAfter(failures: number): number {
    const { random = Math.random } = this.#options;
    return backoffMs(failures, FIRST_RESTART_DELAY_MS, MAX_RESTART_DELAY_MS, random);
  }
}

/** A signal that aborts after `ms` milliseconds, until it is disposed of. */
function lateAfter(ms: number | undefined): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const late = (): void => controller.abort(new SandboxError('late', 'The time for the work is over.'));
  const timer = ms === undefined ? undefined : setTimeout(late, ms);
  return { signal: controller.signal, dispose: () => clearTimeout(timer) };
}

/** The reply, or PREEMPTED. Rejects when time is over or `stop` aborts; the process is killed in all three cases. */
async function callWithin(
  process: SandboxProcess,
  working: Promise<Reply | typeof PREEMPTED>,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Reply | typeof PREEMPTED> {
  const began = performance.now();
  try {
    const reply = await within(timeoutMs, 'The work', unlessAborted(stop, working));
    if (reply === PREEMPTED) process.kill();
    return reply;
  } catch (error) {
    process.kill();
    if (error !== stop.reason) throw sandboxError(error);
    const tookItAll = isLate(error) && performance.now() - began > timeoutMs - TIMER_SLACK_MS;
    throw tookItAll
      ? new SandboxError('timeout', `The work took longer than ${timeoutMs} ms.`, error)
      : error;
  }
}

function isLate(error: unknown): boolean {
  return error instanceof SandboxError && error.reason === 'late';
}

function sandboxError(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  if (error instanceof TimeoutError) return new SandboxError('timeout', `${error.message}.`, error);
  if (error instanceof ProcessEnded && error.outOfMemory) {
    return new SandboxError('memory', 'The work used more memory than allowed.', error);
  }
  return new SandboxError('lost', 'The process that did the work was lost.', error);
}
