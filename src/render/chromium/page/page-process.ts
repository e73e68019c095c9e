import type { CDPSession } from 'puppeteer';
import {
  descendsFrom,
  isRenderer,
  type ProcessSample,
  runnableMs,
  sampleProcess,
  signalProcess,
} from '../process/processes.ts';
import type { StoppedProcesses } from '../process/stopped-processes.ts';
import { WorkerThreads } from '../process/worker-threads.ts';

/** The browser of a page. */
export interface PageBrowser {
  /** Pid of its main process. */
  readonly pid: number;
  readonly stopped: StoppedProcesses;
}

/** The processor time of a page's process. */
export interface ProcessorSample extends Pick<ProcessSample, 'pid' | 'processorMs' | 'runnable'> {
  /** Time for which its main thread has run or waited for a core, in milliseconds; 0 where that is not counted. */
  readonly mainThreadMs: number;
}

/**
 * The renderer process of a page. It does all the computing of its document, frames and workers: a process belongs to
 * one context, and sites are not isolated from each other within a context.
 */
export class PageProcess {
  readonly pid: number;
  readonly #startTime: number;
  readonly #stopped: StoppedProcesses;
  #paused = false;
  #workers: WorkerThreads | undefined;

  private constructor(pid: number, startTime: number, stopped: StoppedProcesses) {
    this.pid = pid;
    this.#startTime = startTime;
    this.#stopped = stopped;
  }

  /**
   * Finds the page's process. Identifiers that Chromium gives to searches begin with the pid of their process, as seen
   * outside of the sandbox.
   *
   * @returns undefined if the pid is not one of the browser's processes here, as behind a pid namespace or without
   *   /proc.
   * @throws the rejection of the session.
   */
  static async of(session: CDPSession, browser: PageBrowser): Promise<PageProcess | undefined> {
    const sent = [
      session.send('DOM.enable'),
      session.send('DOM.performSearch', { query: 'nothing' }),
    ] as const;
    session.send('DOM.disable').catch(() => undefined);
    const [, { searchId }] = await Promise.all(sent);
    const pid = Number(/^(\d+)\./.exec(searchId)?.[1]);
    const startTime = Number.isInteger(pid) ? sampleProcess(pid)?.startTime : undefined;
    if (startTime === undefined || !isRenderer(pid) || !descendsFrom(pid, browser.pid)) return undefined;
    return new PageProcess(pid, startTime, browser.stopped);
  }

  get alive(): boolean {
    return this.#sample() !== undefined;
  }

  /** Its processor time so far; undefined when it has ended. */
  sample(): ProcessorSample | undefined {
    const sample = this.#sample();
    return sample && { ...sample, mainThreadMs: runnableMs(this.pid) };
  }

  /** Stops the process until `resume`. @returns false when that is not possible. */
  pause(): boolean {
    this.#paused = this.alive && this.#stopped.stop(this.pid);
    if (this.#paused) this.#workers?.stop();
    return this.#paused;
  }

  /** Called when a worker starts: all its workers together are to get about as much of a core as another page. */
  niceWorker(): void {
    this.#workers ??= new WorkerThreads(this.pid);
    this.#workers.expect();
  }

  /** Kills the process, even while it is stopped. */
  end(): void {
    if (this.alive) signalProcess(this.pid, 'SIGKILL');
  }

  resume(): void {
    if (this.#paused) {
      this.#stopped.goOn(this.pid);
      this.#workers?.check();
    }
    this.#paused = false;
  }

  /** @returns undefined when it has ended, even if another process has its pid by then. */
  #sample(): ProcessSample | undefined {
    const sample = sampleProcess(this.pid);
    return sample?.startTime === this.#startTime ? sample : undefined;
  }
}
