import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../async/backoff.ts';
import { TimeoutError, within } from '../async/timeout.ts';
import { unlessAborted } from '../async/unless-aborted.ts';
import { ProcessEnded, SandboxProcess } from './sandbox-process.ts';
import type { Reply } from './serve.ts';
import { type Turn, Turns } from './turns.ts';

/**
 * Work that may loop or allocate without end, in processes that can be killed.
 *
 * Threads will not do. A thread that outgrows its heap in one allocation takes the whole process with it ("Reached
 * heap limit", exit 134), and `terminate()` waits for ever on a regular expression that is being replaced; both were
 * seen with Node 24 and `resourceLimits`. See docs/decisions.
 */
export interface Sandbox {
  /**
   * What the entry's handler makes of `call`, which may be begun anew once when others wait: it must do nothing but
   * answer. Rejects with SandboxError, or with the signal's reason when that aborts; either way the work has ended.
   *
   * @param timeoutMs that the work itself may take; waiting for a free process does not count.
   */
  run(call: object, timeoutMs: number, terms?: CallTerms): Promise<unknown>;
  /** Ends every process; what is under way or waiting rejects with `closed`. */
  close(): Promise<void>;
}

export interface CallTerms {
  /** Whose call it is: accounts take turns. Calls without one count as those of one account. */
  readonly account?: string | undefined;
  /** Milliseconds until it must have been done, waiting included. */
  readonly withinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SandboxOptions {
  /** A module that calls `serve`. */
  readonly entry: URL;
  /**
   * How many calls are worked on at the same time, each in its own process of about 60 MB. The first two are started at
   * once, the others when calls wait.
   */
  readonly processes: number;
  /** Megabytes of JavaScript objects that one call may hold before its process ends. */
  readonly heapMb: number;
  readonly logger?: SandboxLogger | undefined;
  /** A number in [0, 1), for the time between tries to start a process; chance unless said otherwise. */
  readonly random?: () => number;
  /** A call that takes longer is slow: see turns.ts. Default 250 ms. */
  readonly sliceMs?: number;
}

export interface SandboxLogger {
  warn(fields: object, message: string): void;
}

/**
 * - `fault`: the handler threw; the message is its words
 * - `timeout`: the call took longer than it may, and its process was killed
 * - `late`: its time was over before it was done, though it took no longer than it may, or had not begun
 * - `memory`: the call used up the heap of its process
 * - `lost`: the process ended for another reason, or none can be started
 * - `closed`: the sandbox is closed
 */
export type SandboxFailure = 'fault' | 'timeout' | 'late' | 'memory' | 'lost' | 'closed';

export class SandboxError extends Error {
  readonly reason: SandboxFailure;

  constructor(reason: SandboxFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SandboxError';
    this.reason = reason;
  }
}

/** Between a process that could not be started and the next try. */
const FIRST_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 5000;

/** Processes that are there before they are needed. */
const WARM_PROCESSES = 2;
const SLICE_MS = 250;
/** Two timers that were set for the same time may go off in either order. */
const TIMER_SLACK_MS = 50;
/** The answer to a call that was put back. */
const PUT_BACK = Symbol('put back');

interface Waiting extends Turn {
  fail(error: unknown): void;
}

/** Starts processes at once, so that the first call finds one that is warm. */
export function createSandbox(options: SandboxOptions): Sandbox {
  return new ProcessPool(options);
}

class ProcessPool implements Sandbox {
  private readonly options: SandboxOptions;
  private readonly processes = new Set<SandboxProcess>();
  private readonly idle: SandboxProcess[] = [];
  private readonly busy = new Set<SandboxProcess>();
  private readonly turns: Turns<Waiting>;
  private readonly closing = new AbortController();
  /** Places that have been opened; each has one process after the other. */
  private places = 0;

  constructor(options: SandboxOptions) {
    this.options = options;
    this.turns = new Turns({
      places: options.processes,
      sliceMs: options.sliceMs ?? SLICE_MS,
      coming: () => this.places - this.idle.length - this.busy.size,
    });
    while (this.places < Math.min(WARM_PROCESSES, options.processes)) this.openPlace();
  }

  async run(call: object, timeoutMs: number, terms: CallTerms = {}): Promise<unknown> {
    const { account = '', withinMs, signal } = terms;
    const late = lateAfter(withinMs);
    const stop = AbortSignal.any([this.closing.signal, late.signal, ...(signal ? [signal] : [])]);
    try {
      let reply = await this.tryOnce(call, timeoutMs, account, stop);
      while (reply === PUT_BACK) reply = await this.tryOnce(call, timeoutMs, account, stop);
      if ('fault' in reply) throw new SandboxError('fault', reply.fault);
      return reply.output;
    } finally {
      late.dispose();
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new SandboxError('closed', 'The sandbox is closed.'));
    const all = [...this.processes];
    for (const process of all) process.kill();
    await Promise.all(all.map((process) => process.ended));
  }

  /** Waits for its turn, and does the work once. */
  private async tryOnce(
    call: object,
    timeoutMs: number,
    account: string,
    stop: AbortSignal,
  ): Promise<Reply | typeof PUT_BACK> {
    const { promise: putBack, resolve } = Promise.withResolvers<typeof PUT_BACK>();
    const { turn, process } = await this.take(account, () => resolve(PUT_BACK), stop);
    try {
      const reply = await callWithin(process, call, timeoutMs, stop, putBack);
      if (reply !== PUT_BACK && this.processes.has(process)) this.idle.push(process);
      return reply;
    } finally {
      this.turns.end(turn);
      this.busy.delete(process);
      this.giveTurns();
    }
  }

  private take(
    account: string,
    putBack: () => void,
    stop: AbortSignal,
  ): Promise<{ turn: Waiting; process: SandboxProcess }> {
    if (stop.aborted) return Promise.reject(stop.reason);
    return new Promise((resolve, reject) => {
      const leave = (): void => stop.removeEventListener('abort', onStop);
      const onStop = (): void => turn.fail(stop.reason);
      const turn: Waiting = {
        account,
        putBack,
        start: () => {
          leave();
          // There is one: turns are given when a process is free.
          const process = this.idle.pop()!;
          this.busy.add(process);
          resolve({ turn, process });
        },
        fail: (error) => {
          leave();
          this.turns.leave(turn);
          reject(error);
        },
      };
      stop.addEventListener('abort', onStop);
      this.turns.wait(turn);
      this.giveTurns();
    });
  }

  private giveTurns(): void {
    while (this.idle.length > 0 && this.turns.startNext());
    const short = this.idle.length === 0 && this.turns.waiting.size > 0;
    if (short && this.places < this.options.processes) this.openPlace();
  }

  private openPlace(): void {
    this.places += 1;
    void this.keepOneRunning();
  }

  /** One place in the pool: starts a process, and another one whenever it has gone. */
  private async keepOneRunning(): Promise<void> {
    let failures = 0;
    while (!this.closing.signal.aborted) {
      let retryInMs = 0;
      const process = new SandboxProcess(this.options.entry, this.options.heapMb);
      this.processes.add(process);
      try {
        await process.ready;
        failures = 0;
        this.idle.push(process);
        this.giveTurns();
      } catch (error) {
        failures += 1;
        retryInMs = this.waitAfter(failures);
        this.reportFailedStart(error, retryInMs);
      }
      await process.ended;
      this.remove(process);
      if (retryInMs > 0) await sleep(retryInMs, undefined, { signal: this.closing.signal }).catch(() => {});
    }
  }

  private remove(process: SandboxProcess): void {
    this.processes.delete(process);
    const place = this.idle.indexOf(process);
    if (place !== -1) this.idle.splice(place, 1);
  }

  private reportFailedStart(error: unknown, retryInMs: number): void {
    this.options.logger?.warn({ err: error, retryInMs }, 'A sandbox process could not be started.');
    if (this.processes.size > 1) return;
    const failed = new SandboxError('lost', 'No sandbox process can be started.', error);
    for (const waiting of this.turns.waiting) waiting.fail(failed);
  }

  /** Milliseconds from so many failures in a row to the next try. */
  private waitAfter(failures: number): number {
    const { random = Math.random } = this.options;
    return backoffMs(failures, FIRST_RESTART_DELAY_MS, MAX_RESTART_DELAY_MS, random);
  }
}

/** Aborts once so much time has passed, until it is disposed of. */
function lateAfter(ms: number | undefined): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const late = (): void => controller.abort(new SandboxError('late', 'The time for the work is over.'));
  const timer = ms === undefined ? undefined : setTimeout(late, ms);
  return { signal: controller.signal, dispose: () => clearTimeout(timer) };
}

/**
 * The process's answer, or PUT_BACK. Past the time, or when `stop` aborts, the call rejects. The process is killed then,
 * and when the call is put back.
 */
async function callWithin(
  process: SandboxProcess,
  call: object,
  timeoutMs: number,
  stop: AbortSignal,
  putBack: Promise<typeof PUT_BACK>,
): Promise<Reply | typeof PUT_BACK> {
  const began = performance.now();
  try {
    const answer = unlessAborted(stop, Promise.race([process.call(call), putBack]));
    const reply = await within(timeoutMs, 'The work', answer);
    if (reply === PUT_BACK) process.kill();
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
