import type { Logger } from 'pino';
import type { RenderBrowser } from './browser.ts';
import { Handover, type HandoverLimits } from './handover.ts';

/** When a browser is replaced by a new one, and how far its contexts may be moved behind that. */
export interface RecycleLimits extends HandoverLimits {
  /** Renders. */
  readonly jobs: number;
  readonly ageMs: number;
  /** Proportional memory of its process tree, less what the contexts weigh that are idle in it: those are given back. */
  readonly memoryBytes: number;
}

export type RecycleReason = 'jobs' | 'age' | 'memory';

export interface RecyclingOptions {
  readonly limits: RecycleLimits;
  /** Whether a browser does one render only. */
  readonly exclusive: boolean;
  /** Browsers that may hand over at a time. */
  readonly handovers: number;
  /** Starts a browser in the place of another. */
  readonly addAnother: () => Promise<void>;
  /** Has a browser take no more renders, and end after the last. */
  readonly retire: (browser: RenderBrowser) => void;
  /** A browser takes no new contexts any more: those that are nobody's are to be let go, and the others moved. */
  readonly onHandover: (browser: RenderBrowser) => void;
  /** Contexts in it that nobody uses at present. */
  readonly idleIn: (browser: RenderBrowser) => number;
  /** Whether there is no memory for two browsers in the place of one. */
  readonly memoryShort: () => boolean;
  /** A browser that had reached a limit has been replaced. */
  readonly onReplaced: (reason: RecycleReason) => void;
  readonly logger: Logger;
}

/**
 * Replaces browsers that have done enough, grown old or grown large: the new one runs before the old one goes. One that has
 * grown large goes as soon as its renders are over; the others hand their contexts over first, as far as memory allows.
 */
export class BrowserRecycling {
  readonly #options: RecyclingOptions;
  readonly #replacing = new Set<RenderBrowser>();
  /** Browsers that hand over, or did: the one that began first is first. */
  readonly #handovers = new Set<RenderBrowser>();
  #closed = false;

  constructor(options: RecyclingOptions) {
    this.#options = options;
  }

  /** A render has been counted into a browser. */
  entered(browser: RenderBrowser): void {
    const { exclusive, limits } = this.#options;
    if (exclusive || browser.jobs >= limits.jobs) this.#recycle(browser, 'jobs');
  }

  /** @param bytes what a browser weighs, without its idle contexts. */
  weighed(browser: RenderBrowser, bytes: number): void {
    const { limits } = this.#options;
    if (bytes > limits.memoryBytes) this.#recycle(browser, 'memory');
    if (Date.now() - browser.startedAt > limits.ageMs) this.#recycle(browser, 'age');
  }

  /** Ends the handover of a browser that has no contexts left, or may not go on with it. */
  checkHandover(browser: RenderBrowser): void {
    const { handover } = browser;
    if (handover === undefined || browser.retiring) return;
    const done = browser.busy === 0 && this.#options.idleIn(browser) === 0;
    if (done || handover.isOver(browser.jobs, Date.now()) || this.#options.memoryShort())
      this.#options.retire(browser);
  }

  /** Replaces none any more. */
  close(): void {
    this.#closed = true;
  }

  /** Starts the replacement, then lets the old one finish what it has. */
  #recycle(browser: RenderBrowser, reason: RecycleReason): void {
    const { logger } = this.#options;
    if (browser.retiring || this.#closed || this.#replacing.has(browser)) return;
    if (browser.handover !== undefined) {
      // Its replacement runs already.
      if (reason === 'memory') this.#options.retire(browser);
      return;
    }
    if (browser.group !== undefined) {
      this.#options.retire(browser);
      return;
    }
    this.#replacing.add(browser);
    logger.debug({ pid: browser.pid, reason, jobs: browser.jobs }, 'a browser is replaced');
    void this.#options.addAnother().then(
      () => {
        if (!this.#options.exclusive) this.#options.onReplaced(reason);
        this.#replacing.delete(browser);
        if (this.#options.exclusive || reason === 'memory') this.#options.retire(browser);
        else this.#handOver(browser);
      },
      (error: unknown) => {
        // The old one is better than none; the next check tries again.
        this.#replacing.delete(browser);
        logger.error({ err: error }, 'no replacement for a browser could be started');
      },
    );
  }

  #handOver(browser: RenderBrowser): void {
    if (browser.retiring || !browser.alive) return;
    browser.handover = new Handover(this.#options.limits, browser.jobs, Date.now());
    this.#handovers.add(browser);
    this.#options.onHandover(browser);
    this.checkHandover(browser);
    this.#boundHandovers();
  }

  /** Each is a browser beside those that there should be: past the bound, those that began first come to their end. */
  #boundHandovers(): void {
    for (const browser of this.#handovers) if (browser.retiring) this.#handovers.delete(browser);
    const tooMany = [...this.#handovers].slice(0, -this.#options.handovers);
    for (const browser of tooMany) this.#options.retire(browser);
  }
}
