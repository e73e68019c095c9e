import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../async/backoff.ts';
import { TimeoutError, within } from '../async/timeout.ts';
import { ProcessEnded, SandboxProcess } from './sandbox-process.ts';
import type { Reply } from './serve.ts';

/**
 * Work that may loop or allocate without end, in processes that can be killed.
 *
 * Threads will not do. A thread that outgrows its heap in one allocation takes the whole process with it ("Reached
 * heap limit", exit 134), and `terminate()` waits for ever on a regular expression that is being replaced; both were
 * seen with Node 24 and `resourceLimits`. See docs/decisions.
 */
export interface Sandbox {
  /**
   * What the entry's handler makes of `call`. Rejects with SandboxError, or with the signal's reason when that
   * aborts; either way the work has ended.
   */
  run(call: object, timeoutMs: number, signal?: AbortSignal): Promise<unknown>;
  /** Ends every process; what is under way or waiting rejects with `closed`. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** A module that calls `serve`. */
  readonly entry: URL;
  /** How many calls are worked on at the same time, each in its own process of about 60 MB. */
  readonly processes: number;
  /** Megabytes of JavaScript objects that one call may hold before its process ends. */
  readonly heapMb: number;
  readonly logger?: SandboxLogger | undefined;
  /** A number in [0, 1), for the time between tries to start a process; chance unless said otherwise. */
  readonly random?: () => number;
}

export interface SandboxLogger {
  warn(fields: object, message: string): void;
}

/**
 * - `fault`: the handler threw; the message is its words
 * - `timeout`: the call took longer than it may, and its process was killed
 * - `memory`: the call used up the heap of its process
 * - `lost`: the process ended for another reason, or none can be started
 * - `closed`: the sandbox is closed
 */
export type SandboxFailure = 'fault' | 'timeout' | 'memory' | 'lost' | 'closed';

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

interface Waiting {
  readonly take: (process: SandboxProcess) => void;
  readonly fail: (error: unknown) => void;
}

/** Starts its processes at once, so that the first call finds one that is warm. */
export function createSandbox(options: SandboxOptions): Sandbox {
  return new ProcessPool(options);
}

class ProcessPool implements Sandbox {
  private readonly options: SandboxOptions;
  private readonly processes = new Set<SandboxProcess>();
  private readonly idle: SandboxProcess[] = [];
  private readonly waiting = new Set<Waiting>();
  private readonly closing = new AbortController();

  constructor(options: SandboxOptions) {
    this.options = options;
    for (let place = 0; place < options.processes; place++) void this.keepOneRunning();
  }

  async run(call: object, timeoutMs: number, signal?: AbortSignal): Promise<unknown> {
    const stop = signal === undefined ? this.closing.signal : AbortSignal.any([this.closing.signal, signal]);
    const process = await this.take(stop);
    const reply = await callWithin(process, call, timeoutMs, stop);
    this.release(process);
    if ('fault' in reply) throw new SandboxError('fault', reply.fault);
    return reply.output;
  }

  async close(): Promise<void> {
    this.closing.abort(new SandboxError('closed', 'The sandbox is closed.'));
    const all = [...this.processes];
    for (const process of all) process.kill();
    await Promise.all(all.map((process) => process.ended));
  }

  private take(stop: AbortSignal): Promise<SandboxProcess> {
    if (stop.aborted) return Promise.reject(stop.reason);
    const free = this.idle.pop();
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        stop.removeEventListener('abort', onStop);
      };
      const onStop = (): void => waiting.fail(stop.reason);
      const waiting: Waiting = {
        take(process) {
          leave();
          resolve(process);
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      this.waiting.add(waiting);
      stop.addEventListener('abort', onStop);
    });
  }

  private release(process: SandboxProcess): void {
    if (!this.processes.has(process)) return;
    const [next] = this.waiting;
    if (next === undefined) this.idle.push(process);
    else next.take(process);
  }

  /** One place in the pool: starts a process, and another one whenever it has gone. */
  private async keepOneRunning(): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; ) {
      const process = new SandboxProcess(this.options.entry, this.options.heapMb);
      this.processes.add(process);
      try {
        await process.ready;
        failures = 0;
        this.release(process);
      } catch (error) {
        failures++;
        this.reportFailedStart(error);
      }
      await process.ended;
      this.remove(process);
      if (failures > 0) await this.pauseAfter(failures);
    }
  }

  private remove(process: SandboxProcess): void {
    this.processes.delete(process);
    const place = this.idle.indexOf(process);
    if (place !== -1) this.idle.splice(place, 1);
  }

  private reportFailedStart(error: unknown): void {
    this.options.logger?.warn({ err: error }, 'A sandbox process could not be started.');
    if (this.processes.size > 1) return;
    const failed = new SandboxError('lost', 'No sandbox process can be started.', error);
    for (const waiting of this.waiting) waiting.fail(failed);
  }

  private async pauseAfter(failures: number): Promise<void> {
    const { random = Math.random } = this.options;
    const ms = backoffMs(failures, FIRST_RESTART_DELAY_MS, MAX_RESTART_DELAY_MS, random);
    await sleep(ms, undefined, { signal: this.closing.signal }).catch(() => {});
  }
}

/** The process's answer. Past the time, or when `stop` aborts, the process is killed and the call rejects. */
async function callWithin(
  process: SandboxProcess,
  call: object,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Reply> {
  const { promise: cut, reject: cutOff } = Promise.withResolvers<never>();
  const onStop = (): void => cutOff(stop.reason);
  stop.addEventListener('abort', onStop);
  if (stop.aborted) onStop();
  try {
    return await within(timeoutMs, 'The work', Promise.race([process.call(call), cut]));
  } catch (error) {
    process.kill();
    throw error === stop.reason ? error : sandboxError(error);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

function sandboxError(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  if (error instanceof TimeoutError) return new SandboxError('timeout', `${error.message}.`, error);
  if (error instanceof ProcessEnded && error.outOfMemory) {
    return new SandboxError('memory', 'The work used more memory than allowed.', error);
  }
  return new SandboxError('lost', 'The process that did the work was lost.', error);
}
