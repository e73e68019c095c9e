import type { LinkTexts } from '../../pdf/conformance/links.ts';
import { MAX_ROOTS, ROOTS } from './document-roots.ts';

/** What is tagged of a document. */
export interface ElementCounts {
  readonly elements: number;
  /** Of tables. */
  readonly rows: number;
}

/**
 * Runs in the document: counts its elements, those of frames and open shadow trees included, up to one more than the given
 * number.
 */
export const COUNT_ELEMENTS = `(maxElements) => {
  const { roots, cut } = (${ROOTS})(${MAX_ROOTS}, maxElements, () => false);
  let elements = 0, rows = 0;
  for (const { root } of roots) {
    const { querySelectorAll } = (root.nodeType === 9 ? Document : DocumentFragment).prototype;
    elements += querySelectorAll.call(root, '*').length;
    rows += querySelectorAll.call(root, 'tr, [role=row]').length;
  }
  return { elements: cut ? Math.max(elements, maxElements + 1) : elements, rows };
}`;

/** What a document says that its PDF does not, or not always. */
export interface DocumentTexts {
  readonly links: LinkTexts;
  /** The language of the document, such as `en-GB`; empty where it gives none. */
  readonly language: string;
}

/**
 * Runs in the document: its language, and the texts of its links by the address that they lead to, or by `#` and the name of a
 * part of the document; of frames and open shadow trees as well. The first link to an address says what it is for.
 */
export const DOCUMENT_TEXTS = `(maxLinks, maxElements) => {
  const texts = {};
  const [own] = document.baseURI.split('#');
  const { roots } = (${ROOTS})(${MAX_ROOTS}, maxElements, () => false);
  const linksIn = ({ root }) => {
    const { querySelectorAll } = (root.nodeType === 9 ? Document : DocumentFragment).prototype;
    return [...querySelectorAll.call(root, ':is(a, area):is([href], [*|href])')];
  };
  const addressOf = ({ href, baseURI }) => {
    if (typeof href === 'string') return href;
    // That of a link in a drawing is as it is written.
    try { return new URL(href.baseVal, baseURI).href; } catch { return ''; }
  };
  for (const link of roots.flatMap(linksIn).slice(0, maxLinks)) {
    const whole = addressOf(link);
    const [address, hash] = whole.split('#');
    let name = hash ?? '';
    try { name = decodeURIComponent(name); } catch { /* It is a name as it is. */ }
    const target = hash !== undefined && address === own ? '#' + name : whole;
    const picture = link.querySelector('img[alt], [aria-label]');
    const text = link.getAttribute('aria-label') || link.textContent.trim() || link.getAttribute('alt') ||
      picture?.getAttribute('alt') || picture?.getAttribute('aria-label') || link.getAttribute('title') || '';
    if (text !== '' && target.length < 2000) texts[target] ??= text.replace(/\\s+/g, ' ').slice(0, 200);
  }
  return { links: texts, language: document.documentElement?.getAttribute('lang')?.trim().slice(0, 100) ?? '' };
}`;
