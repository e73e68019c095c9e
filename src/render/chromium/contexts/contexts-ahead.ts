import type { Cores } from '../../../infra/scheduling/cores.ts';
import type { RenderBrowser } from '../browsers/browser.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import type { WarmMemory } from '../browsers/warm-memory.ts';
import type { OpenContexts } from './open-contexts.ts';
import type { ContextNeeds, RenderContext } from './render-context.ts';

/** A kind of page that has not been needed for this time is no longer opened ahead. Milliseconds. */
const WANTED_MS = 600_000;

interface AheadOptions {
  /** Number of contexts of each kind of page; 0 for none. */
  readonly each: number;
  readonly browsers: BrowserPool;
  readonly contexts: OpenContexts;
  readonly cores: Cores;
  readonly memory: WarmMemory;
}

/**
 * Contexts that are opened before an account needs them. They are unused, and each is assigned to one account for good.
 * They are opened one at a time while a core is idle, so that the first render of an account need not wait for a
 * process to start.
 */
export class ContextsAhead {
  readonly #options: AheadOptions;
  readonly #ahead: RenderContext[] = [];
  /** By whether documents need frames: when such a page was last needed. Most documents need no frames. */
  readonly #wanted = new Map<boolean, number>([[false, Number.POSITIVE_INFINITY]]);
  #making = false;
  #closed = false;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  get contexts(): readonly RenderContext[] {
    return this.#ahead;
  }

  /** Takes an unassigned context; undefined when there is none of its kind. */
  take({ needsFrames, alone, group }: ContextNeeds): RenderContext | undefined {
    if (alone || group !== undefined) return undefined;
    if (needsFrames) this.#wanted.set(needsFrames, Date.now());
    const at = this.#ahead.findIndex((context) => context.usable && context.draws(needsFrames));
    return at < 0 ? undefined : this.#ahead.splice(at, 1)[0];
  }

  /** Opens missing contexts in the background, if that is possible now. */
  refill(): void {
    const { cores, memory } = this.#options;
    const needsFrames = this.#missing();
    if (needsFrames === undefined || this.#making || this.#closed || !cores.idle || memory.short) return;
    this.#making = true;
    void this.#make(needsFrames).then(
      (made) => {
        this.#making = false;
        if (made) this.refill();
      },
      () => {
        // The browser has ended and is replaced; the next call of `refill` uses the replacement.
        this.#making = false;
      },
    );
  }

  release(browser: RenderBrowser): void {
    for (const context of this.#ahead.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  clear(): void {
    for (const context of [...this.#ahead]) this.#drop(context);
  }

  close(): void {
    this.#closed = true;
    this.#ahead.length = 0;
  }

  /** The kind of page of which there are too few contexts. */
  #missing(): boolean | undefined {
    const since = Date.now() - WANTED_MS;
    for (const [needsFrames, at] of this.#wanted) {
      const there = this.#ahead.filter((context) => context.usable && context.draws(needsFrames));
      if (at > since && there.length < this.#options.each) return needsFrames;
    }
    return undefined;
  }

  /** @returns false when the opened context could not be kept. */
  async #make(needsFrames: boolean): Promise<boolean> {
    const { browsers, contexts } = this.#options;
    return await browsers.borrow(async (browser) => {
      const context = await contexts.open(browser, needsFrames);
      // Its browser may have been replaced meanwhile, and no account is to begin in a draining browser.
      if (this.#closed || !context.usable || browser.drain !== undefined) {
        this.#drop(context);
        return false;
      }
      this.#ahead.push(context);
      return true;
    });
  }

  #drop(context: RenderContext): void {
    const at = this.#ahead.indexOf(context);
    if (at >= 0) this.#ahead.splice(at, 1);
    void this.#options.contexts.close(context);
  }
}
