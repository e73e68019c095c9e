import { within } from '../../async/timeout.ts';
import type { RenderContext } from '../pool/render-context.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import type { RenderPage } from './render-page.ts';

/**
 * Everything that scripts and answers can store, by name: "all" would add the shader cache, which holds nothing of a
 * document's and takes seven times as long to clear as the rest together.
 */
const STORAGE = 'cookies,local_storage,indexeddb,cache_storage,service_workers,file_systems,shared_storage';
/** A page that does not come clean in this time is thrown away. */
const RESET_MS = 2000;

/** Empties a page whose document ran no script. Sent and not waited for: whatever is sent next finds it done. */
export function emptyPage(page: RenderPage): void {
  page.session.send('Page.setDocumentContent', { frameId: page.frameId, html: '' }).catch(() => undefined);
}

/** Forgets the cookies that answers to a document's requests have set. */
export async function clearCookies(context: RenderContext): Promise<void> {
  await context.page.session.send('Network.clearBrowserCookies');
}

/**
 * Makes a page as good as new: its document is gone with its timers, frames, dialogs and workers, and so are the
 * cookies and the storage of every origin in its context. Only the HTTP cache stays.
 *
 * @returns false when that did not come about in time; the page is of no further use then.
 */
export async function resetPage(context: RenderContext): Promise<boolean> {
  try {
    await within(RESET_MS, 'cleaning a page', clean(context));
    return true;
  } catch {
    return false;
  }
}

async function clean({ page }: RenderContext): Promise<void> {
  const { session } = page;
  page.interceptor.clear();
  page.lifecycle.begin();
  // The document first: while it lives it can write again what has been cleared. The answer may come before it is gone.
  const [, , { errorText, loaderId }] = await Promise.all([
    page.setNetworkEvents(false),
    page.interceptor.apply(),
    session.send('Page.navigate', { url: `${DOCUMENT_ORIGIN}/` }),
  ]);
  if (errorText !== undefined) throw new Error(errorText);
  await page.lifecycle.until('load', loaderId);
  await Promise.all([
    session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: STORAGE }),
    session.send('Page.resetNavigationHistory'),
    // The window's name outlives its documents.
    session.send('Runtime.evaluate', { expression: 'window.name = ""' }),
  ]);
  page.pristine = true;
}
