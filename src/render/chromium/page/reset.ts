import { within } from '../../../infra/async/timeout.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import { NETWORK_EVENTS } from './page-settings.ts';
import type { RenderPage } from './render-page.ts';

/**
 * Everything that scripts and responses can store, by name: "all" would add the shader cache, which contains no data of
 * documents and takes seven times as long to clear as the rest together.
 */
const STORAGE = 'cookies,local_storage,indexeddb,cache_storage,service_workers,file_systems,shared_storage';
/** A page that is not clean within this time is discarded. Milliseconds. */
const RESET_MS = 2000;

/** How many resources the document has fetched, as its window has recorded; `data:` addresses do not count. */
const FETCHED = `performance.getEntriesByType('resource').length`;

/** Removes the content of a page. Not waited for: later commands run after it. */
export function emptyPage({ session, frameId }: RenderPage): void {
  session.send('Page.setDocumentContent', { frameId, html: '' }).catch(() => undefined);
}

/**
 * Cleans a page by removing its content, after a document that ran no script and leaves nothing with its window. That
 * is enough only if the document has fetched nothing: Chromium's Document reuses what it has fetched once, whatever the
 * server's caching headers are.
 *
 * @returns false when the document has fetched something.
 */
export async function emptyUnlessFetched(page: RenderPage): Promise<boolean> {
  const fetched = page.session.send('Runtime.evaluate', { expression: FETCHED, returnByValue: true });
  emptyPage(page);
  page.settings.restore(NETWORK_EVENTS).catch(() => undefined);
  const { result } = await within(RESET_MS, 'emptying a page', fetched);
  if (result.value !== 0) return false;
  // The window's performance timeline records when and what the document painted, and later scripts could read it.
  if (page.drawsFrames) page.pristine = false;
  return true;
}

/**
 * Leaves a document that ran no script, and leaves nothing behind but what it has fetched, for `about:blank`. That
 * takes half as long as a navigation that sends a request.
 *
 * @returns false when that failed or took too long; the page cannot be used again then.
 */
export async function leaveStillDocument(page: RenderPage): Promise<boolean> {
  page.pristine = false;
  return await cleanInTime(navigateAway(page, 'about:blank'));
}

/**
 * Makes a page as good as new: ends its document with its timers, frames, dialogs and workers, and removes the cookies
 * and the storage of every origin in its context. Only the HTTP cache stays, and only if nothing in it can have been
 * fetched with cookies.
 *
 * @returns false when that failed or took too long; the page cannot be used again then.
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

/** Ends the document, and removes its cookies and everything that it may have fetched with them. */
async function navigateAway(page: RenderPage, url: string): Promise<void> {
  const { session } = page;
  if (page.credentials.remembered) throw new Error('the context remembers a password');
  page.interceptor.clear();
  page.lifecycle.begin();
  // Navigates first: a live document could write again what has been cleared. The response of the command may arrive
  // before the document has ended.
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
    // The window's name survives a change of document.
    page.session.send('Runtime.evaluate', { expression: 'window.name = ""' }),
  ]);
  await page.setOwnCookie();
  page.pristine = true;
}
