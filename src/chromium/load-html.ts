import type { Protocol } from 'puppeteer';
import { PlatenError } from '../errors/registry.ts';
import { DOCUMENT_ORIGIN } from './launch.ts';
import type { RenderContext } from './render-context.ts';
import type { RenderPage } from './render-page.ts';

/**
 * Puts a document that runs no script into the page by replacing the one that is there. Since neither has run script,
 * there are no globals, listeners or timers to be left over, and a navigation would cost as much as the printing.
 *
 * @param waitForLoad whether images and styles are waited for.
 */
export async function writeDocument(page: RenderPage, html: string, waitForLoad: boolean): Promise<void> {
  const { session, frameId } = page;
  const written = session.send('Page.setDocumentContent', { frameId, html });
  // Sent along: most documents are complete as soon as they are parsed.
  const state = session.send('Runtime.evaluate', { expression: 'document.readyState', returnByValue: true });
  await written;
  if (!waitForLoad || (await state).result.value === 'complete') return;
  await new Promise<void>((resolve) => session.once('Page.loadEventFired', () => resolve()));
}

export interface NavigateOptions {
  readonly html: string;
  readonly csp: string | undefined;
}

/**
 * Navigates the page to DOCUMENT_ORIGIN, where the document is found. Everything else at that
 * origin is not found.
 *
 * @returns the loader id of the document.
 */
export async function navigateToDocument(
  context: RenderContext,
  { html, csp }: NavigateOptions,
): Promise<string> {
  const { page } = context;
  const body = Buffer.from(html).toString('base64');
  const responseHeaders = [
    { name: 'Content-Type', value: 'text/html; charset=utf-8' },
    { name: 'Cache-Control', value: 'no-store' },
    ...(csp ? [{ name: 'Content-Security-Policy', value: csp }] : []),
  ];
  page.interceptor.answer(`${DOCUMENT_ORIGIN}/`, (event: Protocol.Fetch.RequestPausedEvent) => {
    const isDocument = event.resourceType === 'Document' && event.frameId === page.frameId;
    return isDocument
      ? { requestId: event.requestId, responseCode: 200, responseHeaders, body }
      : { requestId: event.requestId, responseCode: 404 };
  });
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
