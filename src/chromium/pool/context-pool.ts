import { within } from '../../async/timeout.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { JobEnd } from '../job-end.ts';
import { asRenderError } from '../render-error.ts';
import type { RenderBrowser } from './browser.ts';
import type { BrowserPool } from './browser-pool.ts';
import { ContextMoves } from './context-moves.ts';
import { ContextsAhead } from './contexts-ahead.ts';
import { type ContextNeeds, RenderContext } from './render-context.ts';
import type { WarmMemory } from './warm-memory.ts';

/** How long something that was begun for a job may take to come to an end once the job has. */
const ABANDONED_MS = 2000;
const MAX_TICK_MS = 1000;
/** A context that has been idle for this long is unlikely to be asked for in the next moment. */
const TRIM_AFTER_MS = 3000;
/** Contexts trimmed in one tick: each takes some milliseconds of a core. */
const TRIMMED_AT_ONCE = 4;

export interface ContextPoolOptions {
  /** Whether contexts stay open for their account's next job. */
  readonly keepWarm: boolean;
  /** Idle contexts kept at most, whatever they weigh; the longest idle goes first. */
  readonly maxIdle: number;
  /** An idle context is closed after this. */
  readonly idleMs: number;
  /** Contexts of each kind of page that are made before anybody asks for them. */
  readonly ahead: number;
  /** Whether a core is idle, so that what is made ahead is made at nobody's expense. */
  readonly coreIsIdle: () => boolean;
  readonly memory: WarmMemory;
  readonly onCount: (contexts: number) => void;
  /** A render has got a context: one that was kept, or a new one. */
  readonly onLease: (kind: 'warm' | 'cold') => void;
  /** A document of the account has gone past a bound. */
  readonly onExcess: (accountId: string) => void;
}

/**
 * Gives every job a context that only its account has ever used. With `keepWarm` the ones whose job ended well wait for
 * the account's next job, for as long as there is memory for them.
 */
export class ContextPool {
  readonly #options: ContextPoolOptions;
  readonly #browsers: BrowserPool;
  /** Longest idle first. */
  readonly #idle: RenderContext[] = [];
  readonly #ahead: ContextsAhead;
  readonly #moves: ContextMoves;
  readonly #timer: NodeJS.Timeout;
  #open = 0;

  constructor(options: ContextPoolOptions, browsers: BrowserPool) {
    this.#options = options;
    this.#browsers = browsers;
    const { coreIsIdle, memory, onExcess } = options;
    const onCount = (change: number) => this.#count(change);
    this.#ahead = new ContextsAhead({
      each: options.ahead,
      mayMake: () => coreIsIdle() && !memory.short,
      browsers,
      onCount,
      onExcess,
    });
    this.#moves = new ContextMoves({
      idle: () => this.#idle,
      coreIsIdle,
      memoryShort: () => memory.short,
      browsers,
      replace: (old, fresh) => this.#replace(old, fresh),
      onCount,
      onExcess,
    });
    this.#timer = setInterval(() => this.#tick(), Math.min(MAX_TICK_MS, options.idleMs));
    this.#timer.unref();
  }

  get contexts(): number {
    return this.#open;
  }

  /** Idle contexts in `browser`, kept for their accounts or made ahead. */
  idleIn(browser: RenderBrowser): number {
    const here = (context: RenderContext) => context.browser === browser;
    return this.#idle.filter(here).length + this.#ahead.contexts.filter(here).length;
  }

  /** The processes of idle contexts' pages, of all browsers. */
  idlePids(): ReadonlySet<number> {
    const idle = [...this.#idle, ...this.#ahead.contexts];
    return new Set(idle.flatMap(({ page }) => page.process?.pid ?? []));
  }

  /** A context for one job, counted into its browser; give it back with `keep` or `discard`. */
  async lease(needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    await needs.turn?.take();
    const warm = this.#takeIdle(needs);
    if (warm) {
      this.#options.onLease('warm');
      return warm;
    }
    const context = this.#ahead.take(needs) ?? (await this.#openInPassing(needs, end));
    this.#options.onLease('cold');
    return context;
  }

  /** Opens a context without a core: a page's process that starts waits more than it computes. */
  async #openInPassing(needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    needs.turn?.leave();
    const context = await this.#openAny(needs, end);
    try {
      await needs.turn?.take();
      return context;
    } catch (error) {
      await this.discard(context);
      throw error;
    }
  }

  /** Takes back a context that has been cleaned. */
  async keep(context: RenderContext): Promise<void> {
    if (!this.#options.keepWarm || !context.usable) {
      await this.discard(context);
      return;
    }
    if (context.replaced) {
      void this.#close(context);
    } else {
      context.idleSince = Date.now();
      context.trimmed = false;
      this.#idle.push(context);
    }
    this.#browsers.leave(context.browser);
    this.#keepWithinBounds();
  }

  /** Ends a context and what runs in it, which may be hung; resolves when it has ended. */
  async discard(context: RenderContext): Promise<void> {
    await this.#close(context, true);
    this.#browsers.leave(context.browser);
  }

  /** Makes contexts that are missing for those who come next, if a core is idle or they are due. */
  makeAhead(): void {
    this.#moves.start();
    this.#ahead.refill();
  }

  /** A browser opens no contexts any more: lets go of those in it that are nobody's yet. */
  handOver(browser: RenderBrowser): void {
    this.#ahead.release(browser);
    this.makeAhead();
  }

  /** Lets go of what is kept in `browser`. */
  release(browser: RenderBrowser): void {
    this.#ahead.release(browser);
    for (const context of this.#idle.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  /** Memory has been weighed anew: gives back what is too much, those that are idle for longest first. */
  keepWithinMemory(): void {
    const { memory } = this.#options;
    if (memory.short) this.#ahead.clear();
    for (let left = memory.toGiveBack(); left > 0 && this.#idle.length > 0; left--)
      this.#drop(this.#idle[0]!);
    this.#keepWithinBounds();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#moves.close();
    this.#ahead.close();
    this.#idle.length = 0;
  }

  #keepWithinBounds(): void {
    const { maxIdle, memory } = this.#options;
    const bound = Math.min(maxIdle, memory.contextsThatFit());
    while (this.#idle.length > bound) this.#drop(this.#idle[0]!);
  }

  /** The account's context that was used last: the rest may then expire. One in a browser that goes on is taken before. */
  #takeIdle(needs: ContextNeeds): RenderContext | undefined {
    const fitting = this.#idle.filter((context) => context.fits(needs));
    const context = fitting.findLast(({ browser }) => browser.handover === undefined) ?? fitting.at(-1);
    if (context === undefined) return undefined;
    this.#idle.splice(this.#idle.indexOf(context), 1);
    this.#browsers.enter(context.browser);
    return context;
  }

  /** Keeps `fresh` for an account in the place of `old`, which may have been taken for a render meanwhile. */
  #replace(old: RenderContext, fresh: RenderContext): void {
    const at = this.#idle.indexOf(old);
    if (at >= 0) {
      fresh.idleSince = old.idleSince;
      this.#idle[at] = fresh;
      void this.#close(old);
    } else {
      old.replaced = true;
      fresh.idleSince = Date.now();
      this.#idle.push(fresh);
      this.#keepWithinBounds();
    }
  }

  async #openAny(needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    end.tellWaiting(true);
    const browser = await this.#enter(needs, end.signal).finally(() => end.tellWaiting(false));
    try {
      const context = await this.#openIn(browser, needs, end);
      context.assign(needs.accountId, this.#options.onExcess);
      return context;
    } catch (error) {
      this.#browsers.leave(browser);
      throw error;
    }
  }

  #enter({ accountId, alone, group, turn }: ContextNeeds, signal: AbortSignal): Promise<RenderBrowser> {
    const seeker = { account: accountId, turn, signal };
    if (alone) return this.#browsers.enterAlone(seeker);
    return group === undefined ? this.#browsers.enterAny(signal) : this.#browsers.enterGroup(group, seeker);
  }

  async #openIn(browser: RenderBrowser, needs: ContextNeeds, end: JobEnd): Promise<RenderContext> {
    const opening = RenderContext.open(browser, needs.needsFrames);
    this.#browsers.watchOpening(browser, opening);
    try {
      const context = await end.race(opening);
      this.#count(1);
      return context;
    } catch (error) {
      await this.#abandon(browser, opening);
      // No document was in it yet: whatever ended the browser, this job did not.
      const isCrash = asRenderError(error).code === 'BROWSER_CRASHED';
      throw isCrash ? new PlatenError('BROWSER_CRASHED', undefined, { shared: true, cause: error }) : error;
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

  #tick(): void {
    const now = Date.now();
    const limit = now - this.#options.idleMs;
    for (const context of this.#idle.filter(({ idleSince, usable }) => idleSince < limit || !usable)) {
      this.#drop(context);
    }
    const untrimmed = this.#idle.filter(
      ({ trimmed, idleSince }) => !trimmed && idleSince < now - TRIM_AFTER_MS,
    );
    for (const context of untrimmed.slice(0, TRIMMED_AT_ONCE)) context.trim();
    this.makeAhead();
  }

  #drop(context: RenderContext): void {
    const at = this.#idle.indexOf(context);
    if (at >= 0) this.#idle.splice(at, 1);
    void this.#close(context);
  }

  async #close(context: RenderContext, hung = false): Promise<void> {
    await context.close(hung);
    this.#count(-1);
  }

  #count(change: number): void {
    this.#open += change;
    this.#options.onCount(this.#open);
  }
}
