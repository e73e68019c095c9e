import type { JobDocument } from './job-document.ts';

/** How a document is brought into the page, and how the page is cleaned of it afterwards. */
export interface LoadStrategy {
  /**
   * - `replace-content`: its markup takes the place of the markup that is there; the window and its Document stay.
   * - `rewrite`: it is written into a page that is as new (document.open, document.write).
   * - `navigate`: the page is navigated to DOCUMENT_ORIGIN, where the document is found.
   * - `open-url`: the page is navigated to the source URL.
   */
  readonly load: 'replace-content' | 'rewrite' | 'navigate' | 'open-url';
  /**
   * - `empty`: the markup is removed. When it turns out that the document has fetched something, `leave` after all, or
   *   the page is given up.
   * - `leave`: the page leaves the document for `about:blank`, and the cookies that answers have set are removed.
   * - `reset`: the page leaves the document, and everything that scripts and answers can store is removed.
   */
  readonly clean: 'empty' | 'leave' | 'reset';
}

/**
 * The cheapest way to load a document that keeps what it should do and leaves nothing behind. A navigation costs as much
 * as the printing of a page: a still document needs none, and for one with scripts it has been paid for by the cleaning
 * up after the document before, when the page is pristine.
 *
 * Options may need a navigation: policies and headers are sent with a response, or with requests. What stays with a Document
 * when its content is replaced (`lasting`) would reach the next one. What a document has fetched stays there too, and is
 * shown again whatever the server says of caching, so that a page which may have fetched something is always left.
 * Only a navigation tells when the network is idle.
 */
export function loadStrategy(
  { kind, still, traits, needs }: Pick<JobDocument, 'kind' | 'still' | 'traits' | 'needs'>,
  page: { readonly pristine: boolean },
): LoadStrategy {
  if (kind === 'url') return { load: 'open-url', clean: 'reset' };
  if (needs.navigation || traits?.lasting) return { load: 'navigate', clean: 'reset' };
  if (still && traits?.loads) return { load: 'replace-content', clean: 'leave' };
  if (still) return { load: 'replace-content', clean: 'empty' };
  if (page.pristine && !needs.network) return { load: 'rewrite', clean: 'reset' };
  return { load: 'navigate', clean: 'reset' };
}
