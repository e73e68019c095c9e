import type { Cores } from '../../scheduling/cores.ts';
import type { RenderBrowser } from '../browsers/browser.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import type { OpenContexts } from './open-contexts.ts';
import type { ContextNeeds, RenderContext } from './render-context.ts';
import type { WarmMemory } from './warm-memory.ts';

/** A kind of page for which no context was missing in this time is not made ahead any more. */
const WANTED_MS = 600_000;

export interface AheadOptions {
  /** How many of each kind of page; 0 for none. */
  readonly each: number;
  readonly browsers: BrowserPool;
  readonly contexts: OpenContexts;
  readonly cores: Cores;
  readonly memory: WarmMemory;
}

/**
 * Contexts that were made before an account came for them: nobody has used them, and each is given to one account for
 * good. They are made one at a time while a core is idle, so that an account that comes for the first time need not
 * wait for a process to start.
 */
export class ContextsAhead {
  readonly #options: AheadOptions;
  readonly #ahead: RenderContext[] = [];
  /** By whether documents need frames: when one was last asked for. Most documents need none. */
  readonly #wanted = new Map<boolean, number>([[false, Number.POSITIVE_INFINITY]]);
  #making = false;
  #closed = false;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  get contexts(): readonly RenderContext[] {
    return this.#ahead;
  }

  /** One that is nobody's; undefined when none of its kind is there. */
  take({ needsFrames, alone, group }: ContextNeeds): RenderContext | undefined {
    if (alone || group !== undefined) return undefined;
    if (needsFrames) this.#wanted.set(needsFrames, Date.now());
    const at = this.#ahead.findIndex((context) => context.usable && context.draws(needsFrames));
    return at < 0 ? undefined : this.#ahead.splice(at, 1)[0];
  }

  /** Makes what is missing, behind the caller, if it may be made now. */
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
        // The browser has gone, and another comes: the next look finds it.
        this.#making = false;
      },
    );
  }

  /** Lets go of those in `browser`. */
  release(browser: RenderBrowser): void {
    for (const context of this.#ahead.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  /** Lets go of all of them. */
  clear(): void {
    for (const context of [...this.#ahead]) this.#drop(context);
  }

  close(): void {
    this.#closed = true;
    this.#ahead.length = 0;
  }

  /** The kind of page of which there are too few. */
  #missing(): boolean | undefined {
    const since = Date.now() - WANTED_MS;
    for (const [needsFrames, at] of this.#wanted) {
      const there = this.#ahead.filter((context) => context.usable && context.draws(needsFrames));
      if (at > since && there.length < this.#options.each) return needsFrames;
    }
    return undefined;
  }

  /** @returns false when there is no browser to make it in. */
  async #make(needsFrames: boolean): Promise<boolean> {
    const { browsers, contexts } = this.#options;
    return await browsers.borrow(async (browser) => {
      const context = await contexts.open(browser, needsFrames);
      // Its browser may have been replaced meanwhile: nobody is to begin in that one.
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
