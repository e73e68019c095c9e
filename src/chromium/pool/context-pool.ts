import { within } from '../../async/timeout.ts';
import type { JobEnd } from '../job-end.ts';
import type { RenderBrowser } from './browser.ts';
import type { BrowserPool } from './browser-pool.ts';
import { type ContextNeeds, RenderContext } from './render-context.ts';

/** How long something that was begun for a job may take to come to an end once the job has. */
const ABANDONED_MS = 2000;

export interface ContextPoolOptions {
  /** Whether contexts stay open for their account's next job. */
  readonly keepWarm: boolean;
  /** Idle contexts kept at most; the longest idle goes first. */
  readonly maxIdle: number;
  /** An idle context is closed after this. */
  readonly idleMs: number;
  readonly onCount: (contexts: number) => void;
  /** A render has got a context: one that was kept, or a new one. */
  readonly onLease: (kind: 'warm' | 'cold') => void;
}

/**
 * Gives every job a context that only its account has ever used. With `keepWarm` the ones whose job ended well wait for
 * the account's next job.
 */
export class ContextPool {
  readonly #options: ContextPoolOptions;
  readonly #browsers: BrowserPool;
  /** Longest idle first. */
  readonly #idle: RenderContext[] = [];
  readonly #timer: NodeJS.Timeout;
  #open = 0;

  constructor(options: ContextPoolOptions, browsers: BrowserPool) {
    this.#options = options;
    this.#browsers = browsers;
    this.#timer = setInterval(() => this.#expire(), Math.min(1000, options.idleMs));
    this.#timer.unref();
  }

  get contexts(): number {
    return this.#open;
  }

  /** A context for one job, counted into its browser; give it back with `keep` or `discard`. */
  async lease(needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    const warm = this.#takeIdle(needs);
    if (warm) {
      this.#options.onLease('warm');
      return warm;
    }
    const browser = needs.alone
      ? await this.#browsers.enterAlone(end.signal)
      : await this.#browsers.enterAny(end.signal);
    try {
      const context = await this.#openIn(browser, needs, end);
      this.#options.onLease('cold');
      return context;
    } catch (error) {
      this.#browsers.leave(browser);
      throw error;
    }
  }

  /** Takes back a context that has been cleaned. */
  async keep(context: RenderContext): Promise<void> {
    if (!this.#options.keepWarm || !context.usable) {
      await this.discard(context);
      return;
    }
    context.idleSince = Date.now();
    this.#idle.push(context);
    this.#browsers.leave(context.browser);
    while (this.#idle.length > this.#options.maxIdle) await this.#close(this.#idle.shift()!);
  }

  /** Ends a context and what runs in it; resolves when it has ended. */
  async discard(context: RenderContext): Promise<void> {
    await this.#close(context);
    this.#browsers.leave(context.browser);
  }

  /** Lets go of what is kept in `browser`. */
  release(browser: RenderBrowser): void {
    for (const context of this.#idle.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#idle.length = 0;
  }

  /** The account's context that was used last: the rest may then expire. */
  #takeIdle(needs: ContextNeeds): RenderContext | undefined {
    const at = this.#idle.findLastIndex((context) => context.fits(needs));
    if (at < 0) return undefined;
    const [context] = this.#idle.splice(at, 1);
    this.#browsers.enter(context!.browser);
    return context;
  }

  async #openIn(browser: RenderBrowser, needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    const opening = RenderContext.open(browser, needs);
    try {
      const context = await end.race(opening);
      this.#count(1);
      return context;
    } catch (error) {
      await this.#abandon(browser, opening);
      throw error;
    }
  }

  /** A context that came too late is closed; a browser that does not even open one is hung. */
  async #abandon(browser: RenderBrowser, opening: Promise<RenderContext>): Promise<void> {
    const closed = opening.then(
      (context) => context.close(),
      () => undefined,
    );
    try {
      await within(ABANDONED_MS, 'opening a context', closed);
    } catch {
      const fault = browser.alive ? await browser.fault(ABANDONED_MS) : undefined;
      if (fault) await browser.kill(fault);
    }
  }

  #expire(): void {
    const limit = Date.now() - this.#options.idleMs;
    for (const context of this.#idle.filter(({ idleSince, usable }) => idleSince < limit || !usable)) {
      this.#drop(context);
    }
  }

  #drop(context: RenderContext): void {
    const at = this.#idle.indexOf(context);
    if (at >= 0) this.#idle.splice(at, 1);
    void this.#close(context);
  }

  async #close(context: RenderContext): Promise<void> {
    await context.close();
    this.#count(-1);
  }

  #count(change: number): void {
    this.#open += change;
    this.#options.onCount(this.#open);
  }
}
