import type { Logger } from 'pino';
import { killProcess, PROCESS_KINDS, type ProcessKind } from '../process/processes.ts';
import { ProcessorShares } from '../process/processor-shares.ts';
import type { RenderBrowser } from './browser.ts';
import type { BrowserProcess } from './browser-scale.ts';
import { GraphicsWatch } from './graphics-watch.ts';

/** Kinds of processes that Chromium starts again when they have ended, and that all pages of a browser share. */
const SHARED: ReadonlySet<ProcessKind> = new Set(['gpu', 'network', 'storage', 'utility']);
/** A process that uses more than this share of a core computes. */
const BUSY_SHARE = 0.25;
/** One that uses more than this share is watched: it may compute, or draw for nobody. */
const WATCHED_SHARE = 0.05;
/** Consecutive checks at which it computes, without a render, before it is ended. */
const CHECKS = 3;

/** Why a process was ended: by its memory, because it draws nothing any more, or because it computed for no render. */
type EndReason = 'memory' | 'hung' | 'unused';

/** Receives the measurements of the processes of all browsers; prom-client's gauges and counters fit. */
export interface ProcessMetrics {
  readonly browserProcesses?: { set(labels: { kind: ProcessKind }, running: number): void };
  readonly browserMemory?: { set(labels: { kind: ProcessKind }, bytes: number): void };
  readonly browserProcessor?: { inc(labels: { kind: ProcessKind }, seconds: number): void };
  readonly browserProcessesEnded?: { inc(labels: { kind: ProcessKind; reason: EndReason }): void };
}

interface SharedProcessesOptions {
  readonly metrics: ProcessMetrics | undefined;
  readonly logger: Pick<Logger, 'warn'>;
  /** A process whose resident memory exceeds this is ended. Bytes. */
  readonly memoryBytes: number;
  /** Called with the accounts whose renders may have caused the end of a GPU process. */
  readonly onSuspects: (accounts: readonly string[]) => void;
}

/** How long a process has computed without a render, in checks, and the browser's renders at the first of them. */
interface Unused {
  checks: number;
  readonly renders: number;
}

/**
 * Measures the processes of browsers, and ends those that a document has left in a state that others would feel: a
 * process with too much memory, a GPU process that draws nothing any more (see GraphicsWatch), and a shared process that
 * computes while its browser runs no render. Chromium replaces each of them; the main process is replaced with the
 * browser.
 */
export class SharedProcesses {
  readonly #options: SharedProcessesOptions;
  readonly #graphics: GraphicsWatch;
  readonly #shares = new ProcessorShares();
  readonly #unused = new Map<number, Unused>();

  constructor(options: SharedProcessesOptions) {
    this.#options = options;
    const { logger, onSuspects } = options;
    const end = (browser: RenderBrowser, process: BrowserProcess) => this.#end(browser, process, 'hung');
    this.#graphics = new GraphicsWatch({ logger, onSuspects, end });
  }

  /**
   * To be called about every second with all browsers and, in the same order, their processes; seldom while nothing is
   * rendered.
   *
   * @returns whether a process that pages share does something, and is to be checked again soon.
   */
  check(browsers: readonly RenderBrowser[], processes: readonly (readonly BrowserProcess[])[]): boolean {
    const all = processes.flat();
    const shares = this.#shares.read(all);
    this.#measure(all, shares.usedMs);
    for (const pid of this.#unused.keys()) if (!shares.ofCore.has(pid)) this.#unused.delete(pid);
    for (const [i, browser] of browsers.entries()) {
      for (const process of processes[i]!) this.#check(browser, process, shares.ofCore.get(process.pid));
      browser.renders.forget();
    }
    return all.some(({ pid, kind }) => SHARED.has(kind) && (shares.ofCore.get(pid) ?? 0) > WATCHED_SHARE);
  }

  /** @param share of a core; undefined at the first check of a process. */
  #check(browser: RenderBrowser, process: BrowserProcess, share: number | undefined): void {
    if (process.kind !== 'browser' && process.memoryBytes > this.#options.memoryBytes) {
      this.#end(browser, process, 'memory');
    } else if (share !== undefined && SHARED.has(process.kind)) {
      if (this.#isUnused(browser, process, share)) this.#end(browser, process, 'unused');
      else if (process.kind === 'gpu') this.#graphics.check(browser, process, share);
    }
  }

  /** Whether a process has computed at CHECKS consecutive checks while its browser ran no render. */
  #isUnused(browser: RenderBrowser, { pid }: BrowserProcess, share: number): boolean {
    const { busy, jobs } = browser;
    const known = this.#unused.get(pid);
    if (share < BUSY_SHARE || busy > 0) {
      this.#unused.delete(pid);
      return false;
    }
    if (known?.renders !== jobs) {
      this.#unused.set(pid, { checks: 1, renders: jobs });
      return false;
    }
    known.checks++;
    return known.checks > CHECKS;
  }

  #end(browser: RenderBrowser, { pid, kind, memoryBytes }: BrowserProcess, reason: EndReason): void {
    const { logger, metrics } = this.#options;
    // A page's render fails with an error of its own.
    if (kind !== 'renderer')
      logger.warn(
        { pid, kind, reason, memoryBytes, browser: browser.pid },
        'a process that documents share is ended',
      );
    killProcess(pid);
    metrics?.browserProcessesEnded?.inc({ kind, reason });
  }

  #measure(processes: readonly BrowserProcess[], usedMs: ReadonlyMap<number, number>): void {
    const { metrics } = this.#options;
    for (const kind of PROCESS_KINDS) {
      const members = processes.filter((process) => process.kind === kind);
      const sum = (value: (process: BrowserProcess) => number) =>
        members.reduce((total, process) => total + value(process), 0);
      metrics?.browserProcesses?.set({ kind }, members.length);
      metrics?.browserMemory?.set(
        { kind },
        sum(({ bytes }) => bytes),
      );
      metrics?.browserProcessor?.inc({ kind }, sum(({ pid }) => usedMs.get(pid) ?? 0) / 1000);
    }
  }
}
