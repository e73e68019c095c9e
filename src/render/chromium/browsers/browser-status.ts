import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BrowserStatus } from '../../renderer.ts';
import { sandboxOf } from '../process/sandbox-check.ts';
import type { RenderBrowser } from './browser.ts';
import type { BrowserPool } from './browser-pool.ts';
import { inNewPage } from './new-page.ts';

/** How often the check whether browsers are in their sandbox is tried, and the pause in between in milliseconds. */
const CHECKS = 5;
const CHECK_AGAIN_MS = 500;

/** A browser that was checked, and the pid of its main process. */
interface CheckedBrowser {
  readonly status: BrowserStatus;
  readonly pid: number;
}

/** Checks a browser, and the next one if it ends for another reason meanwhile. @throws the error of the last try. */
export async function statusOfBrowser(browsers: BrowserPool): Promise<CheckedBrowser> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await browsers.borrow(checkAt);
    } catch (error) {
      if (tries === CHECKS) throw error;
      await pause(CHECK_AGAIN_MS);
    }
  }
}

/** Opens a page and inspects its process. */
async function checkAt(browser: RenderBrowser): Promise<CheckedBrowser> {
  const { product: version } = await browser.connection.send('Browser.getVersion');
  return await inNewPage(browser, async (session) => {
    // The renderer responds once it is in its sandbox.
    await session.send('Runtime.evaluate', { expression: '0' });
    return { status: { version, sandbox: sandboxOf(browser.pid) }, pid: browser.pid };
  });
}

export function logStatus(logger: Logger, { sandbox, version, reason }: BrowserStatus): void {
  const browser = { browser: version, sandbox };
  if (sandbox === 'on') logger.info(browser, "Chromium's sandbox is in force");
  else if (reason !== undefined)
    logger.warn(browser, `Chromium runs without its sandbox: ${reason}: see docs/image.md`);
  else logger.warn(browser, "Chromium's sandbox could not be found in force: see docs/image.md");
}
