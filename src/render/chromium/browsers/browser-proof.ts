import type { Logger } from 'pino';
import { within } from '../../../infra/async/timeout.ts';
import type { RenderBrowser } from './browser.ts';
import { inNewPage } from './new-page.ts';

/** A context that takes longer than this to open makes its browser prove itself, in milliseconds. */
const SLOW_OPENING_MS = 5000;
/** Longest wait for a page to open, in milliseconds: also on a slow machine, one that opens at all has by then. */
const PROOF_MS = 15_000;

/**
 * Checks that browsers can open pages. A browser may run, respond to pings, and still fail every render: when no
 * process id is left, no page gets a process. So a browser in which a context could not be opened has to prove that it
 * opens pages. After a browser has failed that proof, each newly started browser has to pass it as well.
 */
export class BrowserProof {
  readonly #logger: Logger;
  readonly #running = new Set<RenderBrowser>();
  #doubted = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Watches an opening in a browser, which has to prove itself when the opening fails or takes long. */
  watch(browser: RenderBrowser, opening: Promise<unknown>): void {
    const check = () => void this.#check(browser);
    const slow = setTimeout(check, SLOW_OPENING_MS);
    slow.unref();
    void opening.then(() => undefined, check).finally(() => clearTimeout(slow));
  }

  /**
   * Lets a browser that has just been started, and is not used yet, prove itself if the last one failed its proof.
   *
   * @throws Error when this browser fails it too; the browser is then ended completely.
   */
  async require(browser: RenderBrowser): Promise<void> {
    if (!this.#doubted) return;
    if (!(await opensPages(browser))) {
      await browser.kill('hung');
      throw new Error('A browser has started, and opens no page. There may be no process ids left for it.');
    }
    this.#doubted = false;
  }

  /** Ends a browser that opens no page. Ignores one that has ended by itself. */
  async #check(browser: RenderBrowser): Promise<void> {
    if (!browser.alive || this.#running.has(browser)) return;
    this.#running.add(browser);
    try {
      if ((await opensPages(browser)) || (await browser.check()) === 'crashed' || !browser.alive) return;
      this.#doubted = true;
      this.#logger.error({ pid: browser.pid }, 'a browser opens no page any more, and is ended');
      await browser.kill('hung');
    } finally {
      this.#running.delete(browser);
    }
  }
}

async function opensPages(browser: RenderBrowser): Promise<boolean> {
  try {
    // The page's process responds.
    const responds = inNewPage(browser, (session) => session.send('Runtime.evaluate', { expression: '0' }));
    await within(PROOF_MS, 'opening a page', responds);
    return true;
  } catch {
    return false;
  }
}
