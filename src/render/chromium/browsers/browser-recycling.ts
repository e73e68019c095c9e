import type { Logger } from 'pino';
import type { RenderBrowser } from './browser.ts';
import { BrowserDrain, type DrainLimits } from './browser-drain.ts';
import type { ProcessMetrics } from './shared-processes.ts';
import type { WarmMemory } from './warm-memory.ts';

/** When a browser is replaced by a new one, and how long its contexts may take to be moved. */
export interface RecycleLimits extends DrainLimits {
  /** In renders. */
  readonly jobs: number;
  readonly ageMs: number;
  /** Proportional memory (PSS) of its process tree, without its idle contexts, since those can be closed. */
  readonly memoryBytes: number;
}

type RecycleReason = 'jobs' | 'age' | 'memory';

/** Why a browser was replaced or given up. */
type RestartReason = 'crashed' | 'hung' | 'unstartable' | RecycleReason;

/** Receives the counts; a prom-client gauge and counter fit. */
export interface BrowserMetrics extends ProcessMetrics {
  readonly browsers: { set(alive: number): void };
  readonly browserRestarts: { inc(labels: { reason: RestartReason }): void };
}

export interface RecyclingOptions {
  readonly recycle: RecycleLimits;
  /** Whether a browser does one render only. */
  readonly exclusive: boolean;
  /** Browsers that are kept running, and the highest number that may drain at a time. */
  readonly size: number;
  /** While memory is short, a replaced browser is retired at once, so that two browsers do not run instead of one. */
  readonly memory: WarmMemory;
  readonly metrics: BrowserMetrics | undefined;
  readonly logger: Logger;
}

/** The contexts that are kept in browsers. */
export interface KeptContexts {
  /** Contexts in `browser` that may be closed at any moment. */
  idleIn(browser: RenderBrowser): number;
  /** The page processes of all contexts that may be closed at any moment. */
  idlePids(): ReadonlySet<number>;
  /** Closes the contexts in `browser`, which takes no more renders. */
  release(browser: RenderBrowser): void;
  /** Closes the contexts of no account in `browser`, which opens no new ones, and starts to move the others. */
  moveFrom(browser: RenderBrowser): void;
  /** Called after memory has been measured: closes contexts beyond the limits. */
  keepWithinMemory(): void;
}

/** The pool whose browsers are recycled. */
export interface RecycledBrowsers {
  readonly contexts: KeptContexts;
  add(): Promise<void>;
  /** Retires a browser: it takes no more renders, and ends after the last one. */
  retire(browser: RenderBrowser): void;
}

/**
 * Replaces browsers that have reached their number of renders, their age or their memory: the new browser runs before
 * the old one ends. A browser that uses too much memory ends as soon as its renders are over; any other has its
 * contexts moved first, as far as memory allows.
 */
export class BrowserRecycling {
  readonly #options: RecyclingOptions;
  readonly #pool: RecycledBrowsers;
  readonly #replacing = new Set<RenderBrowser>();
  /** Browsers that drain or have drained; the one that began first comes first. */
  readonly #drains = new Set<RenderBrowser>();
  #closed = false;

  constructor(options: RecyclingOptions, pool: RecycledBrowsers) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Called when a render has been counted as running in a browser. */
  entered(browser: RenderBrowser): void {
    const { exclusive, recycle } = this.#options;
    if (exclusive || browser.jobs >= recycle.jobs) this.#recycle(browser, 'jobs');
  }

  /** @param bytes the browser's memory, without its idle contexts. */
  weighed(browser: RenderBrowser, bytes: number): void {
    const { recycle } = this.#options;
    if (bytes > recycle.memoryBytes) this.#recycle(browser, 'memory');
    if (Date.now() - browser.startedAt > recycle.ageMs) this.#recycle(browser, 'age');
  }

  /** Ends the drain of a browser without contexts, or past its drain limits, or when memory is short. */
  checkDrain(browser: RenderBrowser): void {
    const { drain } = browser;
    if (drain === undefined || browser.retiring) return;
    const done = browser.busy === 0 && this.#pool.contexts.idleIn(browser) === 0;
    if (done || drain.isOver(browser.jobs, Date.now()) || this.#options.memory.short)
      this.#pool.retire(browser);
  }

  close(): void {
    this.#closed = true;
  }

  /** Starts the replacement, then lets the old browser finish its renders. */
  #recycle(browser: RenderBrowser, reason: RecycleReason): void {
    const { exclusive, metrics, logger } = this.#options;
    if (browser.retiring || this.#closed || this.#replacing.has(browser)) return;
    if (browser.drain !== undefined) {
      // Its replacement runs already.
      if (reason === 'memory') this.#pool.retire(browser);
      return;
    }
    if (browser.group !== undefined) {
      this.#pool.retire(browser);
      return;
    }
    this.#replacing.add(browser);
    logger.debug({ pid: browser.pid, reason, jobs: browser.jobs }, 'a browser is replaced');
    void this.#pool.add().then(
      () => {
        if (!exclusive) metrics?.browserRestarts.inc({ reason });
        this.#replacing.delete(browser);
        if (exclusive || reason === 'memory') this.#pool.retire(browser);
        else this.#drain(browser);
      },
      (error: unknown) => {
        // The old browser stays in use; the next check tries again.
        this.#replacing.delete(browser);
        logger.error({ err: error }, 'no replacement for a browser could be started');
      },
    );
  }

  #drain(browser: RenderBrowser): void {
    if (browser.retiring || !browser.alive) return;
    browser.drain = new BrowserDrain(this.#options.recycle, browser.jobs, Date.now());
    this.#drains.add(browser);
    this.#pool.contexts.moveFrom(browser);
    this.checkDrain(browser);
    this.#boundDrains();
  }

  /** A draining browser runs in addition to the configured number, so the oldest drains beyond `size` end at once. */
  #boundDrains(): void {
    for (const browser of this.#drains) if (browser.retiring) this.#drains.delete(browser);
    const tooMany = [...this.#drains].slice(0, -this.#options.size);
    for (const browser of tooMany) this.#pool.retire(browser);
  }
}
