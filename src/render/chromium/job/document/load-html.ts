import { PlatenError } from '../../../../infra/errors/registry.ts';
import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';
import { NETWORK_EVENTS, SCRIPT } from '../../page/page-settings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { SILENT_ERRORS } from '../../page/silent-console.ts';
import type { JobDocument } from './job-document.ts';

/**
 * Puts a document that runs no script into the page by replacing the page's markup. Since neither document has run
 * script, no globals, listeners or timers can remain.
 */
export async function replaceContent(
  page: RenderPage,
  {
    source,
    traits,
    settings: { milestone },
    needs,
  }: Pick<JobDocument, 'source' | 'traits' | 'settings' | 'needs'>,
): Promise<void> {
  await Promise.all([needs.network && page.settings.set(NETWORK_EVENTS, true), setContent(page, source)]);
  // A document that loads nothing need not be waited for. `document.readyState` does not show that: it is "complete"
  // for such a document from the beginning.
  if ((traits?.loads ?? true) && milestone !== 'DOMContentLoaded') await page.lifecycle.until('load');
}

/** Replaces the page's markup without waiting for what the new markup loads. */
export async function setContent(page: RenderPage, html: string): Promise<void> {
  const { session, frameId, settings } = page;
  await Promise.all([
    settings.set(SCRIPT, false),
    session.send('Page.setDocumentContent', { frameId, html }),
  ]);
}

/** Listeners that document.open removes are added again after it. */
const REWRITE = `async (html, loads) => {
  document.open();
  ${SILENT_ERRORS}
  const done = new Promise((resolve) => {
    if (loads) addEventListener('load', resolve, { once: true });
    else document.addEventListener('DOMContentLoaded', resolve, { once: true });
  });
  document.write(html);
  document.close();
  await done;
}`;

/**
 * Puts a document that runs script into an empty one that was loaded from DOCUMENT_ORIGIN before. The window is as new
 * as after a navigation; that navigation was made when the page was cleaned after the previous job.
 */
export async function rewritePage(
  page: RenderPage,
  { source: html, settings: { scriptEnabled, milestone } }: JobDocument,
): Promise<void> {
  page.pristine = false;
  await page.settings.set(SCRIPT, scriptEnabled);
  // Serves the document in case it reloads itself.
  page.interceptor.serve({ html, csp: undefined });
  const { pendingNavigation } = page.lifecycle;
  try {
    const written = page.runIsolated(REWRITE, html, milestone === 'load');
    await Promise.race([written, pendingNavigation.abandoned]);
  } catch (error) {
    // The document may have navigated the page before it was complete.
    await pendingNavigation.concludedSoon();
    if (page.lifecycle.documents === 0) throw error;
    await page.lifecycle.until(milestone);
  }
}

/** Navigates the page to DOCUMENT_ORIGIN, where the document is served with the policy of its render. */
export async function navigateToDocument(
  page: RenderPage,
  { source: html, settings: { scriptEnabled, milestone, policy: csp }, needs }: JobDocument,
): Promise<void> {
  const { interceptor, lifecycle } = page;
  interceptor.serve({ html, csp });
  const { loaderId, errorText } = await page.navigate(`${DOCUMENT_ORIGIN}/`, {
    script: scriptEnabled,
    network: needs.network === true,
  });
  if (errorText !== undefined || loaderId === undefined) {
    throw new PlatenError(
      'RENDER_FAILED',
      `The document could not be opened: ${errorText ?? 'no document'}.`,
    );
  }
  await lifecycle.until(milestone, loaderId);
}
