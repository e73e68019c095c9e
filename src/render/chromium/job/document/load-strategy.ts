import type { JobDocument } from './job-document.ts';

/** How a document is loaded into the page, and how the page is cleaned of it afterwards. */
export interface LoadStrategy {
  /**
   * - `replace-content`: its markup replaces the page's markup; the window and its Document stay.
   * - `rewrite`: it is written into a page that is as new (document.open, document.write).
   * - `navigate`: the page is navigated to DOCUMENT_ORIGIN, where the document is served.
   * - `open-url`: the page is navigated to the source URL.
   */
  readonly load: 'replace-content' | 'rewrite' | 'navigate' | 'open-url';
  /**
   * - `empty`: the markup is removed. If the document is then found to have fetched something, the page is cleaned by
   *   `leave`, or discarded.
   * - `leave`: the page leaves the document for `about:blank`, and the cookies that responses have set are removed.
   * - `reset`: the page leaves the document, and everything that scripts and responses can store is removed.
   */
  readonly clean: 'empty' | 'leave' | 'reset';
}

/**
 * The cheapest way to load a document without changing what it does and without leaving anything behind. A navigation
 * costs as much as printing a page: a document without script needs none, and for a document with script in a pristine
 * page the navigation was made when the page was cleaned after the previous document.
 *
 * Options may need a navigation: policies and headers are sent with a response, or with requests. Effects that stay
 * with a Document when its content is replaced (`lasting`) would reach the next one. Resources that a document has
 * fetched stay there too, and are shown again whatever the server's caching headers are, so a page that may have
 * fetched something is always left. Only a navigation shows when the network is idle, and what a document requests.
 */
export function loadStrategy(
  { kind, still, traits, needs }: Pick<JobDocument, 'kind' | 'still' | 'traits' | 'needs'>,
  page: { readonly pristine: boolean },
): LoadStrategy {
  if (kind === 'url') return { load: 'open-url', clean: 'reset' };
  if (needs.navigation || traits?.lasting) return { load: 'navigate', clean: 'reset' };
  if (still && traits?.loads && !needs.network) return { load: 'replace-content', clean: 'leave' };
  if (still && !traits?.loads) return { load: 'replace-content', clean: 'empty' };
  if (page.pristine && !needs.network) return { load: 'rewrite', clean: 'reset' };
  return { load: 'navigate', clean: 'reset' };
}
