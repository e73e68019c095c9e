import type { Logger } from 'pino';
import { within } from '../../async/timeout.ts';
import type { RenderBrowser } from './browser.ts';

/** A context that is not open after this makes its browser prove itself, in milliseconds. */
const SLOW_OPENING_MS = 5000;
/** A machine may be slow: a page that opens at all has opened by then, in milliseconds. */
const PROOF_MS = 15_000;
const PING_MS = 5000;

/**
 * Whether browsers are of use. One may run, answer pings, and fail every render: where no process id is left, no page gets
 * a process. So a browser in which a context could not be opened has to prove that it opens pages, and so does each that is
 * started after one which did not.
 */
export class BrowserProof {
  readonly #logger: Logger;
  readonly #running = new Set<RenderBrowser>();
  #doubted = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Watches something being opened in a browser, which has to prove itself when that fails or takes long. */
  watch(browser: RenderBrowser, opening: Promise<unknown>): void {
    const check = () => void this.#check(browser);
    const slow = setTimeout(check, SLOW_OPENING_MS);
    slow.unref();
    void opening.then(() => undefined, check).finally(() => clearTimeout(slow));
  }

  /**
   * Of a browser that has just been started, and that nobody uses yet.
   *
   * @throws Error when one was found useless and this one is as well; nothing of it is left then.
   */
  async require(browser: RenderBrowser): Promise<void> {
    if (!this.#doubted) return;
    if (!(await opensPages(browser))) {
      await browser.kill('hung');
      throw new Error('A browser has started, and opens no page. There may be no process ids left for it.');
    }
    this.#doubted = false;
  }

  /** Ends a browser that opens no page. One that has ended by itself is not a matter of this. */
  async #check(browser: RenderBrowser): Promise<void> {
    if (!browser.alive || this.#running.has(browser)) return;
    this.#running.add(browser);
    try {
      if ((await opensPages(browser)) || (await browser.error(PING_MS)) === 'crashed' || !browser.alive)
        return;
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
    await within(PROOF_MS, 'opening a page', openPage(browser));
    return true;
  } catch {
    return false;
  }
}

async function openPage(browser: RenderBrowser): Promise<void> {
  const context = await browser.openContext({ targetAppeared() {} });
  try {
    const { session } = await browser.openPage(context, true);
    // Answered by the page's process.
    await session.send('Runtime.evaluate', { expression: '0' });
  } finally {
    void browser.closeContext(context);
  }
}
