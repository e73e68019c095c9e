import type { BrowserPool } from './browser-pool.ts';
import { RenderContext } from './render-context.ts';

export interface MoveOptions {
  /** Contexts that are kept for their accounts, longest idle first. */
  readonly idle: () => readonly RenderContext[];
  readonly coreIsIdle: () => boolean;
  /** Whether there is no memory for another context. */
  readonly memoryShort: () => boolean;
  readonly browsers: BrowserPool;
  /** Takes `fresh`, which has been counted and belongs to the account of `old`, in its place. */
  readonly replace: (old: RenderContext, fresh: RenderContext) => void;
  readonly onCount: (change: number) => void;
  /** See RenderContext. */
  readonly onExcess: (accountId: string) => void;
}

/**
 * Moves the contexts of browsers that have been replaced: each account gets a context in another browser before it comes
 * again. Only contexts that have been used since the replacement are moved; the others are about to expire.
 *
 * They are moved one at a time while a core is idle, and when none is, no faster than has to be for all to be moved when
 * the handover ends: an account whose context is moved does not wait, but its neighbours share the cores with it.
 */
export class ContextMoves {
  readonly #options: MoveOptions;
  #moving = false;
  #closed = false;

  constructor(options: MoveOptions) {
    this.#options = options;
  }

  /** Moves the next ones, behind the caller, if they may be moved now. */
  start(): void {
    if (this.#moving || this.#closed || this.#options.memoryShort()) return;
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
    const movable = this.#options.idle().filter(isMovable);
    if (movable.length === 0 || this.#options.coreIsIdle()) return movable.at(-1);
    const now = Date.now();
    for (const browser of new Set(movable.map((context) => context.browser))) {
      const here = movable.filter((context) => context.browser === browser);
      if (browser.handover?.isBehind(here.length, browser.jobs, now)) return here.at(-1);
    }
    return undefined;
  }

  async #move(old: RenderContext): Promise<void> {
    const { browsers, onCount, onExcess, replace } = this.#options;
    await browsers.borrow(async (browser) => {
      const opening = RenderContext.open(browser, old.page.drawsFrames);
      browsers.watchOpening(browser, opening);
      const fresh = await opening;
      if (this.#closed || !fresh.usable || this.#options.memoryShort()) {
        await fresh.close();
        return;
      }
      onCount(1);
      fresh.assign(old.accountId, onExcess);
      old.browser.handover?.moved();
      replace(old, fresh);
    });
  }
}

function isMovable({ usable, browser, idleSince }: RenderContext): boolean {
  return usable && browser.handover !== undefined && idleSince >= browser.handover.startedAt;
}
