import type { Cores } from '../../../infra/scheduling/cores.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import type { DedicatedPages } from '../browsers/dedicated-pages.ts';
import type { WarmMemory } from '../browsers/warm-memory.ts';
import type { OpenContexts } from './open-contexts.ts';
import type { RenderContext } from './render-context.ts';

/** The pool whose contexts are moved. */
export interface MovedContexts {
  /** Idle contexts that are kept for their accounts, longest idle first. */
  readonly idle: readonly RenderContext[];
  /** Replaces `old` by `fresh`, which belongs to the same account. */
  replace(old: RenderContext, fresh: RenderContext): void;
}

interface MoveOptions {
  readonly browsers: BrowserPool;
  readonly contexts: OpenContexts;
  readonly cores: Cores;
  readonly memory: WarmMemory;
  readonly dedicated: DedicatedPages;
}

/**
 * Moves the contexts of replaced browsers: each account gets a context in another browser before its next render. Only
 * contexts that have been used since the replacement are moved; the others are about to expire.
 *
 * While a core is idle, contexts are moved one after another. Otherwise they are moved only as fast as is needed to
 * move all before the drain ends: the account of a moved context does not wait, but other renders share the cores with
 * the move.
 */
export class ContextMoves {
  readonly #options: MoveOptions;
  readonly #pool: MovedContexts;
  #moving = false;
  #closed = false;

  constructor(options: MoveOptions, pool: MovedContexts) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Starts to move the next contexts in the background, if they may be moved now. */
  start(): void {
    if (this.#moving || this.#closed || this.#options.memory.short) return;
    const context = this.#next();
    if (context === undefined) return;
    this.#moving = true;
    void this.#move(context).then(
      () => {
        this.#moving = false;
        this.start();
      },
      () => {
        // The new browser has ended and is replaced; the next call of `start` uses the replacement.
        this.#moving = false;
      },
    );
  }

  close(): void {
    this.#closed = true;
  }

  /** The context that was used last, since a frequently used context is needed again soonest. */
  #next(): RenderContext | undefined {
    const movable = this.#pool.idle.filter(isMovable);
    if (movable.length === 0 || this.#options.cores.idle) return movable.at(-1);
    const now = Date.now();
    for (const browser of new Set(movable.map((context) => context.browser))) {
      const here = movable.filter((context) => context.browser === browser);
      if (browser.drain?.isBehind(here.length, browser.jobs, now)) return here.at(-1);
    }
    return undefined;
  }

  async #move(old: RenderContext): Promise<void> {
    const { browsers, contexts, dedicated, memory } = this.#options;
    await browsers.borrow(async (browser) => {
      const fresh = await contexts.open(browser, old.page.drawsFrames);
      if (this.#closed || !fresh.usable || memory.short) {
        await contexts.close(fresh);
        return;
      }
      fresh.assign(old.accountId, dedicated);
      old.browser.drain?.moved();
      this.#pool.replace(old, fresh);
    });
  }
}

function isMovable({ usable, browser, idleSince }: RenderContext): boolean {
  return usable && browser.drain !== undefined && idleSince >= browser.drain.startedAt;
}
