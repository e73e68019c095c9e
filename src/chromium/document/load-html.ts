import { PlatenError } from '../../errors/registry.ts';
import type { OwnDocument } from '../page/interceptor.ts';
import type { RenderPage } from '../page/render-page.ts';
import { DOCUMENT_ORIGIN } from '../process/launch.ts';

/**
 * Puts a document that runs no script into the page by replacing the one that is there. Since neither has run script,
 * there are no globals, listeners or timers to be left over, and a navigation would cost as much as the printing.
 *
 * @param waitForLoad whether images and styles are waited for; what loads nothing need not wait.
 */
export async function writeDocument(page: RenderPage, html: string, waitForLoad: boolean): Promise<void> {
  const { session, frameId } = page;
  await session.send('Page.setDocumentContent', { frameId, html });
  // Not by document.readyState, which says "complete" of such a document from the beginning.
  if (waitForLoad) await page.lifecycle.until('load');
}

/**
 * Navigates the page to DOCUMENT_ORIGIN, where the document is found.
 *
 * @returns the loader id of the document.
 */
export async function navigateToDocument(page: RenderPage, document: OwnDocument): Promise<string> {
  page.interceptor.serve(document);
  const [, { loaderId, errorText }] = await Promise.all([
    page.interceptor.apply(),
    page.session.send('Page.navigate', { url: `${DOCUMENT_ORIGIN}/` }),
  ]);
  if (errorText !== undefined || loaderId === undefined) {
    throw new PlatenError(
      'RENDER_FAILED',
      `The document could not be opened: ${errorText ?? 'no document'}.`,
    );
  }
  return loaderId;
}

/** What document.open has taken off is put on after it: listeners. */
const REWRITE = `async (html, loads) => {
  document.open();
  const done = new Promise((resolve) => {
    if (loads) addEventListener('load', resolve, { once: true });
    else document.addEventListener('DOMContentLoaded', resolve, { once: true });
  });
  document.write(html);
  document.close();
  await done;
}`;

/**
 * Puts a document that runs script into an empty one that was loaded from DOCUMENT_ORIGIN beforehand. The window is as
 * new as after a navigation; the navigation has already been paid for, by the job before that had to be cleaned up.
 */
export async function rewriteDocument(
  page: RenderPage,
  html: string,
  milestone: 'load' | 'DOMContentLoaded',
): Promise<void> {
  // Where it is found if it loads itself again.
  page.interceptor.serve({ html, csp: undefined });
  try {
    const written = page.runIsolated(REWRITE, html, milestone === 'load');
    await Promise.race([written, page.lifecycle.departure.abandoned]);
  } catch (error) {
    // It may have led the page elsewhere before it was complete.
    await page.lifecycle.departure.overSoon();
    if (page.lifecycle.documents === 0) throw error;
    await page.lifecycle.until(milestone);
  }
}
