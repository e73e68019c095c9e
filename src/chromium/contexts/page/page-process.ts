import type { CDPSession } from 'puppeteer';
import {
  descendsFrom,
  isRenderer,
  type ProcessSample,
  sampleProcess,
  signalProcess,
} from '../../browsers/process/processes.ts';
import type { StoppedProcesses } from '../../browsers/process/stopped-processes.ts';
import { WorkerThreads } from '../../cpu/worker-threads.ts';

/** The browser that a page is in. */
export interface PageBrowser {
  /** Of its main process. */
  readonly pid: number;
  readonly stopped: StoppedProcesses;
}

/**
 * The renderer process of a page. All that its document computes is computed there, its frames and its workers included:
 * a process belongs to one context, and sites are not isolated from each other within one.
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
   * Asks the page for its process. Names that Chromium gives to searches begin with the pid of the process that made
   * them, as it is outside of the sandbox.
   *
   * @returns undefined where that is no process of the browser's here, as behind a pid namespace or without /proc.
   * @throws what the session rejects with.
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

  /** Processor time of all its threads so far, in milliseconds, exact to ten; undefined when it has ended. */
  processorMs(): number | undefined {
    return this.#sample()?.processorMs;
  }

  /** Has it stand still until `resume`. @returns false when that cannot be done. */
  pause(): boolean {
    this.#paused = this.alive && this.#stopped.stop(this.pid);
    if (this.#paused) this.#workers?.stop();
    return this.#paused;
  }

  /** One more worker of it starts: all of them together are to weigh about as much as another page. */
  niceWorker(): void {
    this.#workers ??= new WorkerThreads(this.pid);
    this.#workers.expect();
  }

  /** Ends it for good, whether or not it stands still. */
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

  /** Undefined when it has ended, though another may have its pid by then. */
  #sample(): ProcessSample | undefined {
    const sample = sampleProcess(this.pid);
    return sample?.startTime === this.#startTime ? sample : undefined;
  }
}
