import type { CDPSession } from 'puppeteer';
import type { RenderBrowser } from './browser.ts';

/** Does `work` in a page of a new context, which then closes. @throws the rejection of `work` or the opening. */
export async function inNewPage<T>(
  browser: RenderBrowser,
  work: (session: CDPSession) => Promise<T>,
): Promise<T> {
  const context = await browser.openContext({ targetAppeared() {} });
  try {
    const { session } = await browser.openPage(context, true);
    return await work(session);
  } finally {
    void browser.closeContext(context);
  }
}
