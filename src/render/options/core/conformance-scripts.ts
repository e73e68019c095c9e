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

/**
 * Runs in the document: the texts of its links by the address that they lead to, or by `#` and the name of a part of the
 * document. The first link to an address says what it is for.
 */
export const LINK_TEXTS = `(maxLinks) => {
  const texts = {};
  const [own] = document.baseURI.split('#');
  for (const link of [...document.querySelectorAll('a[href], area[href]')].slice(0, maxLinks)) {
    const [address, hash] = link.href.split('#');
    let name = hash ?? '';
    try { name = decodeURIComponent(name); } catch { /* It is a name as it is. */ }
    const target = hash !== undefined && address === own ? '#' + name : link.href;
    const picture = link.querySelector('img[alt], [aria-label]');
    const text = link.getAttribute('aria-label') || link.textContent.trim() || link.getAttribute('alt') ||
      picture?.getAttribute('alt') || picture?.getAttribute('aria-label') || link.title || '';
    if (text !== '' && target.length < 2000) texts[target] ??= text.replace(/\\s+/g, ' ').slice(0, 200);
  }
  return texts;
}`;
