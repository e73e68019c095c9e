import type { Cores } from '../../scheduling/cores.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import type { DedicatedPages } from '../browsers/dedicated-browsers.ts';
import type { OpenContexts } from './open-contexts.ts';
import type { RenderContext } from './render-context.ts';
import type { WarmMemory } from './warm-memory.ts';

/** The contexts among which others are moved. */
export interface MovedContexts {
  /** Those that are kept for their accounts, longest idle first. */
  readonly idle: readonly RenderContext[];
  /** Keeps `fresh`, which belongs to the account of `old`, in its place. */
  replace(old: RenderContext, fresh: RenderContext): void;
}

export interface MoveOptions {
  readonly browsers: BrowserPool;
  readonly contexts: OpenContexts;
  readonly cores: Cores;
  readonly memory: WarmMemory;
  readonly dedicated: DedicatedPages;
}

/**
 * Moves the contexts of browsers that have been replaced: each account gets a context in another browser before it comes
 * again. Only contexts that have been used since the replacement are moved; the others are about to expire.
 *
 * They are moved one at a time while a core is idle, and when none is, no faster than has to be for all to be moved when
 * the drain ends: an account whose context is moved does not wait, but its neighbours share the cores with it.
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

  /** Moves the next ones, behind the caller, if they may be moved now. */
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
        // The new browser has gone, and another comes: the next look finds it.
        this.#moving = false;
      },
    );
  }

  close(): void {
    this.#closed = true;
  }

  /** The one that was used last: whoever uses it often gains most. */
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
