import type { RenderBrowser } from './browser.ts';
import type { BrowserPool } from './browser-pool.ts';
import { type ContextNeeds, RenderContext } from './render-context.ts';

/** A kind of page for which no context was missing in this time is not made ahead any more. */
const WANTED_MS = 600_000;

export interface AheadOptions {
  /** How many of each kind of page; 0 for none. */
  readonly each: number;
  readonly mayMake: () => boolean;
  readonly browsers: BrowserPool;
  readonly onCount: (change: number) => void;
  /** See RenderContext. */
  readonly onExcess: (accountId: string) => void;
}

/**
 * Contexts that were made before an account came for them: nobody has used them, and each is given to one account for
 * good. They are made one at a time while a core is idle, so that an account that comes for the first time need not
 * wait for a process to start.
 */
export class ContextsAhead {
  readonly #options: AheadOptions;
  readonly #contexts: RenderContext[] = [];
  /** By whether documents need frames: when one was last asked for. Most documents need none. */
  readonly #wanted = new Map<boolean, number>([[false, Number.POSITIVE_INFINITY]]);
  #making = false;
  #closed = false;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  get contexts(): readonly RenderContext[] {
    return this.#contexts;
  }

  /** One for the account, counted into its browser; undefined when none of its kind is there. */
  take({ accountId, needsFrames, alone, group }: ContextNeeds): RenderContext | undefined {
    if (alone || group !== undefined) return undefined;
    if (needsFrames) this.#wanted.set(needsFrames, Date.now());
    const at = this.#contexts.findIndex((context) => context.usable && context.draws(needsFrames));
    if (at < 0) return undefined;
    const [context] = this.#contexts.splice(at, 1);
    context!.assign(accountId, this.#options.onExcess);
    this.#options.browsers.enter(context!.browser);
    return context;
  }

  /** Makes what is missing, behind the caller, if it may be made now. */
  refill(): void {
    const needsFrames = this.#missing();
    if (needsFrames === undefined || this.#making || this.#closed || !this.#options.mayMake()) return;
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
    for (const context of this.#contexts.filter((candidate) => candidate.browser === browser))
      this.#drop(context);
  }

  /** Lets go of all of them. */
  clear(): void {
    for (const context of [...this.#contexts]) this.#drop(context);
  }

  close(): void {
    this.#closed = true;
    this.#contexts.length = 0;
  }

  /** The kind of page of which there are too few. */
  #missing(): boolean | undefined {
    const since = Date.now() - WANTED_MS;
    for (const [needsFrames, at] of this.#wanted) {
      const there = this.#contexts.filter((context) => context.usable && context.draws(needsFrames));
      if (at > since && there.length < this.#options.each) return needsFrames;
    }
    return undefined;
  }

  /** @returns false when there is no browser to make it in. */
  async #make(needsFrames: boolean): Promise<boolean> {
    return await this.#options.browsers.borrow(async (browser) => {
      const opening = RenderContext.open(browser, needsFrames);
      this.#options.browsers.watchOpening(browser, opening);
      const context = await opening;
      this.#options.onCount(1);
      // Its browser may have been replaced meanwhile: nobody is to begin in that one.
      if (this.#closed || !context.usable || browser.handover !== undefined) {
        this.#drop(context);
        return false;
      }
      this.#contexts.push(context);
      return true;
    });
  }

  #drop(context: RenderContext): void {
    const at = this.#contexts.indexOf(context);
    if (at >= 0) this.#contexts.splice(at, 1);
    void context.close().then(() => this.#options.onCount(-1));
  }
}
