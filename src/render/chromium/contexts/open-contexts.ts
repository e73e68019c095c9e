import type { RenderBrowser } from '../browsers/browser.ts';
import type { BrowserPool } from '../browsers/browser-pool.ts';
import { RenderContext } from './render-context.ts';

/** Receives the counts; a prom-client gauge and counter fit. */
export interface ContextMetrics {
  readonly contexts?: { set(open: number): void };
  readonly contextLeases?: { inc(labels: { kind: 'warm' | 'cold' }): void };
}

/** Opens and closes contexts, and counts the open ones. */
export class OpenContexts {
  readonly #browsers: BrowserPool;
  readonly #metrics: ContextMetrics | undefined;
  #count = 0;

  constructor(browsers: BrowserPool, metrics: ContextMetrics | undefined) {
    this.#browsers = browsers;
    this.#metrics = metrics;
  }

  /** Opens a context that has no account yet. @throws the rejection of its browser. */
  async open(browser: RenderBrowser, needsFrames: boolean): Promise<RenderContext> {
    const opening = RenderContext.open(browser, needsFrames);
    this.#browsers.watchOpening(browser, opening);
    const context = await opening;
    this.#add(1);
    return context;
  }

  /** @param hung whether its page may compute without end. */
  async close(context: RenderContext, hung = false): Promise<void> {
    await context.close(hung);
    this.#add(-1);
  }

  #add(change: 1 | -1): void {
    this.#count += change;
    this.#metrics?.contexts?.set(this.#count);
  }
}
