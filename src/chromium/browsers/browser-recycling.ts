import type { Logger } from 'pino';
import type { WarmMemory } from '../contexts/warm-memory.ts';
import type { RenderBrowser } from './browser.ts';
import { BrowserDrain, type DrainLimits } from './browser-drain.ts';

/** When a browser is replaced by a new one, and how far its contexts may be moved behind that. */
export interface RecycleLimits extends DrainLimits {
  /** Renders. */
  readonly jobs: number;
  readonly ageMs: number;
  /** Proportional memory of its process tree, less what the contexts weigh that are idle in it: those are given back. */
  readonly memoryBytes: number;
}

export type RecycleReason = 'jobs' | 'age' | 'memory';

/** Why a browser was replaced or given up. */
export type RestartReason = 'crashed' | 'hung' | 'unstartable' | RecycleReason;

/** Where counts go; a prom-client gauge and counter fit. */
export interface BrowserMetrics {
  readonly browsers: { set(alive: number): void };
  readonly browserRestarts: { inc(labels: { reason: RestartReason }): void };
}

export interface RecyclingOptions {
  readonly recycle: RecycleLimits;
  /** Whether a browser does one render only. */
  readonly exclusive: boolean;
  /** Browsers kept running; so many may drain at a time. */
  readonly size: number;
  /** While it is short there are no two browsers in the place of one. */
  readonly memory: WarmMemory;
  readonly metrics: BrowserMetrics | undefined;
  readonly logger: Logger;
}

/** What is kept in browsers. */
export interface KeptContexts {
  /** Contexts in `browser` that may be closed at any moment. */
  idleIn(browser: RenderBrowser): number;
  /** The processes of the pages of all these. */
  idlePids(): ReadonlySet<number>;
  /** Closes those in `browser`, which takes no more renders. */
  release(browser: RenderBrowser): void;
  /** Closes those in `browser` that are nobody's, and has the others moved: it opens no more of them. */
  moveFrom(browser: RenderBrowser): void;
  /** Memory has been weighed anew: closes those that are too many. */
  keepWithinMemory(): void;
}

/** The browsers that recycling is of. */
export interface RecycledBrowsers {
  readonly contexts: KeptContexts;
  /** Starts a browser for everybody. */
  add(): Promise<void>;
  /** Has a browser take no more renders, and end after the last. */
  retire(browser: RenderBrowser): void;
}

/**
 * Replaces browsers that have done enough, grown old or grown large: the new one runs before the old one goes. One that has
 * grown large goes as soon as its renders are over; the others have their contexts moved first, as far as memory allows.
 */
export class BrowserRecycling {
  readonly #options: RecyclingOptions;
  readonly #pool: RecycledBrowsers;
  readonly #replacing = new Set<RenderBrowser>();
  /** Browsers that drain, or did: the one that began first is first. */
  readonly #drains = new Set<RenderBrowser>();
  #closed = false;

  constructor(options: RecyclingOptions, pool: RecycledBrowsers) {
    this.#options = options;
    this.#pool = pool;
  }

  /** A render has been counted into a browser. */
  entered(browser: RenderBrowser): void {
    const { exclusive, recycle } = this.#options;
    if (exclusive || browser.jobs >= recycle.jobs) this.#recycle(browser, 'jobs');
  }

  /** @param bytes what a browser weighs, without its idle contexts. */
  weighed(browser: RenderBrowser, bytes: number): void {
    const { recycle } = this.#options;
    if (bytes > recycle.memoryBytes) this.#recycle(browser, 'memory');
    if (Date.now() - browser.startedAt > recycle.ageMs) this.#recycle(browser, 'age');
  }

  /** Ends the drain of a browser that has no contexts left, or may not go on with it. */
  checkDrain(browser: RenderBrowser): void {
    const { drain } = browser;
    if (drain === undefined || browser.retiring) return;
    const done = browser.busy === 0 && this.#pool.contexts.idleIn(browser) === 0;
    if (done || drain.isOver(browser.jobs, Date.now()) || this.#options.memory.short)
      this.#pool.retire(browser);
  }

  /** Replaces none any more. */
  close(): void {
    this.#closed = true;
  }

  /** Starts the replacement, then lets the old one finish what it has. */
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
        // The old one is better than none; the next check tries again.
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

  /** Each is a browser beside those that there should be: past the bound, those that began first come to their end. */
  #boundDrains(): void {
    for (const browser of this.#drains) if (browser.retiring) this.#drains.delete(browser);
    const tooMany = [...this.#drains].slice(0, -this.#options.size);
    for (const browser of tooMany) this.#pool.retire(browser);
  }
}
