import { within } from '../../../async/timeout.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import { NETWORK_EVENTS } from './page-settings.ts';
import type { RenderPage } from './render-page.ts';

/**
 * Everything that scripts and answers can store, by name: "all" would add the shader cache, which holds nothing of a
 * document's and takes seven times as long to clear as the rest together.
 */
const STORAGE = 'cookies,local_storage,indexeddb,cache_storage,service_workers,file_systems,shared_storage';
/** A page that does not come clean in this time is thrown away. */
const RESET_MS = 2000;

/** What the document in the page has fetched, as its window has recorded it; what came in `data:` addresses is not. */
const FETCHED = `performance.getEntriesByType('resource').length`;

/** Takes the content out of a page. Sent and not waited for: whatever is sent next finds it done. */
export function emptyPage({ session, frameId }: RenderPage): void {
  session.send('Page.setDocumentContent', { frameId, html: '' }).catch(() => undefined);
}

/**
 * Cleans a page after a document that ran no script and leaves nothing with its window, by taking its content out. That
 * is enough only when it has fetched nothing: Chromium's Document shows again what it has fetched once, whatever the
 * server says of caching.
 *
 * @returns false when it has fetched something.
 */
export async function emptyUnlessFetched(page: RenderPage): Promise<boolean> {
  const fetched = page.session.send('Runtime.evaluate', { expression: FETCHED, returnByValue: true });
  emptyPage(page);
  const { result } = await within(RESET_MS, 'emptying a page', fetched);
  if (result.value !== 0) return false;
  // When and what it painted is in the window's performance timeline, for scripts to read.
  if (page.drawsFrames) page.pristine = false;
  return true;
}

/**
 * Leaves a document that ran no script, and has nothing to leave behind but what it has fetched: for `about:blank`, which
 * takes half as long as a navigation that asks for something.
 *
 * @returns false when that did not come about in time, or cannot; the page is of no further use then.
 */
export async function leaveStillDocument(page: RenderPage): Promise<boolean> {
  page.pristine = false;
  return await cleanInTime(navigateAway(page, 'about:blank'));
}

/**
 * Makes a page as good as new: its document is gone with its timers, frames, dialogs and workers, and so are the
 * cookies and the storage of every origin in its context. Only the HTTP cache stays, and only when nothing in it can have
 * been fetched with cookies.
 *
 * @returns false when that did not come about in time, or cannot; the page is of no further use then.
 */
export async function resetPage(page: RenderPage): Promise<boolean> {
  return await cleanInTime(clean(page));
}

async function cleanInTime(cleaning: Promise<void>): Promise<boolean> {
  try {
    await within(RESET_MS, 'cleaning a page', cleaning);
    return true;
  } catch {
    return false;
  }
}

/** Ends the document, forgets its cookies, and what it may have fetched with them. */
async function navigateAway(page: RenderPage, url: string): Promise<void> {
  const { session } = page;
  if (page.credentials.remembered) throw new Error('the context remembers a password');
  page.interceptor.clear();
  page.lifecycle.begin();
  // The document first: while it lives it can write again what has been cleared. The answer may come before it is gone.
  const [{ cookies }, , , { errorText, loaderId }] = await Promise.all([
    session.send('Network.getAllCookies'),
    page.settings.restore(NETWORK_EVENTS),
    page.interceptor.apply(),
    session.send('Page.navigate', { url }),
  ]);
  if (errorText !== undefined) throw new Error(errorText);
  await page.lifecycle.until('load', loaderId);
  const left = cookies.some((cookie) => !page.isOwnCookie(cookie));
  await Promise.all([
    session.send('Page.resetNavigationHistory'),
    left && session.send('Network.clearBrowserCookies').then(() => page.setOwnCookie()),
    left && page.credentials.clearCache(),
  ]);
}

async function clean(page: RenderPage): Promise<void> {
  await navigateAway(page, `${DOCUMENT_ORIGIN}/`);
  await Promise.all([
    page.session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: STORAGE }),
    // The window's name outlives its documents.
    page.session.send('Runtime.evaluate', { expression: 'window.name = ""' }),
  ]);
  await page.setOwnCookie();
  page.pristine = true;
}
