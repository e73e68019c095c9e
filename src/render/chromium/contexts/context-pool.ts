import { every } from '../../../infra/async/every.ts';
import { within } from '../../../infra/async/timeout.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { Cores, CoreUser } from '../../../infra/scheduling/cores.ts';
import type { RenderBrowser } from '../browsers/browser.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import type { KeptContexts } from '../browsers/browser-recycling.ts';
import type { DedicatedPages, DocumentNeeds } from '../browsers/dedicated-pages.ts';
import type { WarmMemory } from '../browsers/warm-memory.ts';
import type { CancelScope } from '../cancel-scope.ts';
import type { BlockedRenders } from '../cpu/blocked-budget.ts';
import { ComputePermit } from '../cpu/compute-permit.ts';
import { asRenderError } from '../render-error.ts';
import { type ContextLease, leaseOf } from './context-lease.ts';
import { ContextMoves, type MovedContexts } from './context-moves.ts';
import { ContextsAhead } from './contexts-ahead.ts';
import { type ContextMetrics, OpenContexts } from './open-contexts.ts';
import type { ContextNeeds, RenderContext } from './render-context.ts';

/** Longest wait for an opening that was begun for a job to end, once the job has ended. Milliseconds. */
const ABANDONED_MS = 2000;
const MAX_TICK_MS = 1000;
/** A context that has been idle for this long is unlikely to be needed at once. Milliseconds. */
const TRIM_AFTER_MS = 3000;
/** Contexts trimmed per tick: each takes some milliseconds of a core. */
const TRIMMED_AT_ONCE = 4;

interface LeaseNeeds extends CoreUser {
  readonly document: DocumentNeeds & Pick<ContextNeeds, 'needsFrames'>;
  /** Whether it needs a browser of its own, which ends with it. */
  readonly alone?: boolean | undefined;
}

interface ContextPoolOptions {
  /** Whether contexts stay open for their account's next job. */
  readonly keepWarm: boolean;
  /** Most idle contexts kept, whatever memory they use; the longest idle is closed first. */
  readonly maxIdle: number;
  /** An idle context is closed after this time. */
  readonly idleMs: number;
  /** Contexts of each kind of page that are opened before an account needs them. */
  readonly ahead: number;
  /** While a core is idle, contexts are opened ahead and moved without delaying renders. */
  readonly cores: Cores;
  readonly blocked: BlockedRenders;
  readonly memory: WarmMemory;
  readonly dedicated: DedicatedPages;
  readonly metrics: ContextMetrics | undefined;
}

/**
 * Leases to every job a context that only its account has ever used. With `keepWarm`, a context that was cleaned after
 * its job is kept for the account's next job, as long as there is memory for it.
 */
export class ContextPool implements KeptContexts, MovedContexts {
  readonly #options: ContextPoolOptions;
  readonly #browsers: BrowserPool;
  readonly #contexts: OpenContexts;
  /** Longest idle first. */
  readonly #idle: RenderContext[] = [];
  readonly #ahead: ContextsAhead;
  readonly #moves: ContextMoves;
  readonly #endTicks: () => void;

  constructor(options: ContextPoolOptions, browsers: BrowserPool) {
    this.#options = options;
    this.#browsers = browsers;
    const contexts = new OpenContexts(browsers, options.metrics);
    this.#contexts = contexts;
    this.#ahead = new ContextsAhead({ ...options, each: options.ahead, browsers, contexts });
    this.#moves = new ContextMoves({ ...options, browsers, contexts }, this);
    this.#endTicks = every(Math.min(MAX_TICK_MS, options.idleMs), () => this.#tick());
  }

  get idle(): readonly RenderContext[] {
    return this.#idle;
  }

  /** The number of idle contexts in `browser`, kept for their accounts or opened ahead. */
  idleIn(browser: RenderBrowser): number {
    const here = (context: RenderContext) => context.browser === browser;
    return this.#idle.filter(here).length + this.#ahead.contexts.filter(here).length;
  }

  /** The page processes of idle contexts, of all browsers. */
  idlePids(): ReadonlySet<number> {
    const idle = [...this.#idle, ...this.#ahead.contexts];
    return new Set(idle.flatMap(({ page }) => page.process?.pid ?? []));
  }

  /**
   * Leases a context to a render, with all that it stands on: a core, a browser of the kind that the document needs, and
   * the browser's way to the network. Waits for whatever is not free.
   *
   * @throws the error of `end` when the job ends first; PlatenError BROWSER_CRASHED.
   */
  async acquire({ account, priority, document, alone }: LeaseNeeds, end: CancelScope): Promise<ContextLease> {
    const { blocked, cores, dedicated, metrics } = this.#options;
    const group = dedicated.groupOf(account, document);
    const needs = { accountId: account, needsFrames: document.needsFrames, alone, group };
    const permit = new ComputePermit(cores, blocked, { account, priority }, end);
    try {
      await permit.acquire();
      const warm = this.#takeIdle(needs);
      const open = warm ?? this.#ahead.take(needs);
      if (open) open.browserLease = this.#browsers.lease(open.browser, account);
      const context = open ?? (await this.#openWithoutCore(needs, permit, end));
      if (!warm) context.assign(account, dedicated);
      metrics?.contextLeases?.inc({ kind: warm ? 'warm' : 'cold' });
      return leaseOf(context, permit, end, (clean) => this.#takeBack(context, clean));
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  /** Opens a context without holding a core: a starting page process waits more than it computes. */
  async #openWithoutCore(
    needs: ContextNeeds,
    permit: ComputePermit,
    end: CancelScope,
  ): Promise<RenderContext> {
    permit.release();
    const context = await this.#open(needs, end);
    try {
      await permit.acquire();
      return context;
    } catch (error) {
      await this.#discard(context);
      throw error;
    }
  }

  async #takeBack(context: RenderContext, clean: boolean): Promise<void> {
    if (clean && this.#options.keepWarm && context.usable) this.#keep(context);
    else await this.#discard(context);
    this.makeAhead();
  }

  #keep(context: RenderContext): void {
    if (context.replaced) {
      void this.#contexts.close(context);
    } else {
      context.idleSince = Date.now();
      context.trimmed = false;
      this.#idle.push(context);
    }
    context.browserLease?.release();
    this.#keepWithinBounds();
  }

  /** Ends a context and its page, which may hang; resolves when it has ended. */
  async #discard(context: RenderContext): Promise<void> {
    await this.#contexts.close(context, true);
    context.browserLease?.release();
  }

  /** Moves contexts and opens missing ones ahead, if a core is idle or moves are due. */
  makeAhead(): void {
    this.#moves.start();
    this.#ahead.refill();
  }

  moveFrom(browser: RenderBrowser): void {
    this.#ahead.release(browser);
    this.makeAhead();
  }

  release(browser: RenderBrowser): void {
    this.#ahead.release(browser);
    for (const context of this.#idle.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  keepWithinMemory(): void {
    const { memory } = this.#options;
    if (memory.short) this.#ahead.clear();
    for (let left = memory.toGiveBack(); left > 0 && this.#idle.length > 0; left--)
      this.#drop(this.#idle[0]!);
    this.#keepWithinBounds();
  }

  close(): void {
    this.#endTicks();
    this.#moves.close();
    this.#ahead.close();
    this.#idle.length = 0;
  }

  #keepWithinBounds(): void {
    const { maxIdle, memory } = this.#options;
    const bound = Math.min(maxIdle, memory.contextsThatFit());
    while (this.#idle.length > bound) this.#drop(this.#idle[0]!);
  }

  /** The account's context that was used last, so that others may expire; those of draining browsers come last. */
  #takeIdle(needs: ContextNeeds): RenderContext | undefined {
    const fitting = this.#idle.filter((context) => context.fits(needs));
    const context = fitting.findLast(({ browser }) => browser.drain === undefined) ?? fitting.at(-1);
    if (context === undefined) return undefined;
    this.#idle.splice(this.#idle.indexOf(context), 1);
    return context;
  }

  /** Replaces `old` by `fresh` for an account; `old` may have been leased to a render meanwhile. */
  replace(old: RenderContext, fresh: RenderContext): void {
    const at = this.#idle.indexOf(old);
    if (at >= 0) {
      fresh.idleSince = old.idleSince;
      this.#idle[at] = fresh;
      void this.#contexts.close(old);
    } else {
      old.replaced = true;
      fresh.idleSince = Date.now();
      this.#idle.push(fresh);
      this.#keepWithinBounds();
    }
  }

  async #open(needs: ContextNeeds, end: CancelScope): Promise<RenderContext> {
    end.notifyWaiting(true);
    const lease = await this.#browsers
      .acquire({ ...needs, account: needs.accountId, signal: end.signal })
      .finally(() => end.notifyWaiting(false));
    try {
      const context = await this.#openIn(lease.browser, needs, end);
      context.browserLease = lease;
      return context;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #openIn(browser: RenderBrowser, needs: ContextNeeds, end: CancelScope): Promise<RenderContext> {
    const opening = this.#contexts.open(browser, needs.needsFrames);
    try {
      return await end.race(opening);
    } catch (error) {
      await this.#abandon(browser, opening);
      // No document was in the browser yet, so this job has not caused its crash.
      const isCrash = asRenderError(error).code === 'BROWSER_CRASHED';
      throw isCrash ? new PlatenError('BROWSER_CRASHED', undefined, { shared: true, cause: error }) : error;
    }
  }

  /** Closes a context that was opened too late; kills a browser that hangs and opens none. */
  async #abandon(browser: RenderBrowser, opening: Promise<RenderContext>): Promise<void> {
    const closed = opening.then(
      (context) => this.#contexts.close(context),
      () => undefined,
    );
    try {
      await within(ABANDONED_MS, 'opening a context', closed);
    } catch {
      const problem = browser.alive ? await browser.check(ABANDONED_MS) : undefined;
      if (problem) await browser.kill(problem);
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
    void this.#contexts.close(context);
  }
}
