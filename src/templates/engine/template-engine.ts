import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenError } from '../../errors/registry.ts';
import type { Call, Reply } from './protocol.ts';
import { ProcessEnded, TemplateProcess } from './template-process.ts';

export interface TemplateLimits {
  /** Milliseconds that the rendering itself may take; waiting for a free process does not count. */
  readonly timeoutMs: number;
  /** Bytes of the rendered text in UTF-8. */
  readonly maxOutputBytes: number;
}

/** Turns templates and data into HTML, in processes of their own that are killed when they do not stop. */
export interface TemplateEngine {
  /**
   * Rejects with TEMPLATE_ERROR for faults of the template (its message leads with line and column where they are
   * known) and for crossed limits; with the signal's PlatenError, else CANCELLED, when `signal` aborts.
   */
  render(source: string, data: object, limits: TemplateLimits, signal?: AbortSignal): Promise<string>;
  /** Syntax only. Rejects with TEMPLATE_ERROR as `render` does. */
  check(source: string): Promise<void>;
  /** Ends every process; what is under way or waiting rejects with UNAVAILABLE. */
  close(): Promise<void>;
}

export interface TemplateEngineOptions {
  /** How many templates are rendered at the same time, each in its own process of about 60 MB. */
  readonly processes: number;
  readonly logger?: { warn(fields: object, message: string): void };
}

/** A template is asked to stop this long before it is killed, so that the error can name the line. */
const NOTICE_MS = 200;
const CHECK_TIMEOUT_MS = 5000;
const MAX_RESTART_DELAY_MS = 5000;

interface Waiting {
  readonly take: (process: TemplateProcess) => void;
  readonly fail: (error: PlatenError) => void;
}

/** Starts its processes at once, so that the first render finds one that is warm. */
export function createTemplateEngine(options: TemplateEngineOptions): TemplateEngine {
  return new ProcessPool(options);
}

class ProcessPool implements TemplateEngine {
  private readonly options: TemplateEngineOptions;
  private readonly processes = new Set<TemplateProcess>();
  private readonly idle: TemplateProcess[] = [];
  private readonly waiting = new Set<Waiting>();
  private readonly closing = new AbortController();

  constructor(options: TemplateEngineOptions) {
    this.options = options;
    for (let started = 0; started < options.processes; started++) void this.keepOneRunning();
  }

  async render(source: string, data: object, limits: TemplateLimits, signal?: AbortSignal): Promise<string> {
    const call: Call = {
      kind: 'render',
      source,
      data: JSON.stringify(data),
      softTimeoutMs: limits.timeoutMs - Math.min(NOTICE_MS, limits.timeoutMs / 5),
      maxOutputBytes: limits.maxOutputBytes,
    };
    return this.run(call, limits.timeoutMs, signal);
  }

  async check(source: string): Promise<void> {
    await this.run({ kind: 'check', source }, CHECK_TIMEOUT_MS, undefined);
  }

  async close(): Promise<void> {
    this.closing.abort(closedError());
    for (const waiting of this.waiting) waiting.fail(closedError());
    const all = [...this.processes];
    for (const process of all) process.kill();
    await Promise.all(all.map((process) => process.ended));
  }

  private async run(call: Call, timeoutMs: number, signal: AbortSignal | undefined): Promise<string> {
    const stop = signal === undefined ? this.closing.signal : AbortSignal.any([signal, this.closing.signal]);
    const process = await this.take(stop);
    try {
      const reply = await killedAfter(process, call, timeoutMs, stop);
      this.release(process);
      if ('fault' in reply) throw new PlatenError('TEMPLATE_ERROR', reply.fault);
      return reply.output;
    } catch (thrown) {
      throw this.explain(thrown);
    }
  }

  private take(stop: AbortSignal): Promise<TemplateProcess> {
    if (stop.aborted) return Promise.reject(stopError(stop));
    const free = this.idle.pop();
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        stop.removeEventListener('abort', onStop);
      };
      const onStop = (): void => waiting.fail(stopError(stop));
      const waiting: Waiting = {
        take: (process) => {
          leave();
          resolve(process);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      this.waiting.add(waiting);
      stop.addEventListener('abort', onStop);
    });
  }

  private release(process: TemplateProcess): void {
    const [next] = this.waiting;
    if (next === undefined) this.idle.push(process);
    else next.take(process);
  }

  /** One place in the pool: starts a process, and another one whenever it has gone. */
  private async keepOneRunning(): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; ) {
      const process = new TemplateProcess();
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
      if (failures > 0) await this.pause(Math.min(100 * 2 ** failures, MAX_RESTART_DELAY_MS));
    }
  }

  private remove(process: TemplateProcess): void {
    this.processes.delete(process);
    const place = this.idle.indexOf(process);
    if (place !== -1) this.idle.splice(place, 1);
  }

  private reportFailedStart(error: unknown): void {
    if (this.closing.signal.aborted) return;
    this.options.logger?.warn({ err: error }, 'A template process could not be started.');
    if (this.processes.size > 1) return;
    const failed = new PlatenError('UNAVAILABLE', 'Templates cannot be rendered at the moment.', {
      cause: error,
    });
    for (const waiting of this.waiting) waiting.fail(failed);
  }

  private async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.closing.signal }).catch(() => {});
  }

  private explain(thrown: unknown): PlatenError {
    if (thrown instanceof PlatenError) return thrown;
    if (thrown instanceof ProcessEnded && thrown.outOfMemory) {
      return new PlatenError('TEMPLATE_ERROR', 'The template uses more memory than allowed.');
    }
    this.options.logger?.warn({ err: thrown }, 'A template process ended unexpectedly.');
    return new PlatenError('INTERNAL', 'The process that rendered the template was lost.', { cause: thrown });
  }
}

/** The process's answer, or its end: past the time, or when `stop` aborts, it is killed and the call rejects. */
function killedAfter(
  process: TemplateProcess,
  call: Call,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const end = (error: PlatenError): void => {
      settled();
      process.kill();
      reject(error);
    };
    const onStop = (): void => end(stopError(stop));
    const timer = setTimeout(() => {
      end(new PlatenError('TEMPLATE_ERROR', `The template runs longer than ${timeoutMs} ms.`));
    }, timeoutMs);
    const settled = (): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    };
    if (stop.aborted) return onStop();
    stop.addEventListener('abort', onStop);
    process.call(call).then(
      (reply) => {
        settled();
        resolve(reply);
      },
      (error) => {
        settled();
        process.kill();
        reject(error);
      },
    );
  });
}

function stopError(stop: AbortSignal): PlatenError {
  return stop.reason instanceof PlatenError ? stop.reason : new PlatenError('CANCELLED');
}

function closedError(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The template engine is closed.');
}
