import { MAX_ROOTS, ROOTS } from '../../../options/core/document-roots.ts';
import type { RenderPage } from '../../page/render-page.ts';

/** Most elements among which frames and shadow trees are looked for. */
const MAX_ELEMENTS = 20_000;
/** Most pairs of a font and a character that are drawn. */
const MAX_DRAWN = 2000;

/**
 * Runs in a world of its own: returns the characters of the document's text that are drawn like one that no font has
 * (U+10FFFF is never a character). Spaces, and marks that combine with a letter, are not drawn separately.
 */
const MISSING = `(maxDrawn, maxRoots, maxElements, others) => {
  const context = new OffscreenCanvas(40, 40).getContext('2d', { willReadFrequently: true });
  const draw = (text) => {
    context.clearRect(0, 0, 40, 40);
    context.fillText(text, 4, 30);
    return new Uint32Array(context.getImageData(0, 0, 40, 40).data.buffer).join();
  };
  const missing = new Set();
  const boxes = new Map();
  const drawn = new Set();
  const check = (data, font) => {
    context.font = font;
    if (!boxes.has(font)) boxes.set(font, draw('\\u{10FFFF}'));
    for (const character of new Set(data)) {
      if (/[\\0-~\\p{Z}\\p{Cc}\\p{Cf}\\p{M}]/u.test(character) || drawn.has(font + character)) continue;
      if (drawn.size >= maxDrawn) return;
      drawn.add(font + character);
      if (draw(character) === boxes.get(font)) missing.add(character);
    }
  };
  for (const text of others) check(new DOMParser().parseFromString(text, 'text/html').documentElement.textContent, '20px sans-serif');
  const texts = function* () {
    for (const { root } of (${ROOTS})(maxRoots, maxElements, () => false).roots) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) yield walker.currentNode;
    }
  };
  for (const node of texts()) {
    const { data } = node;
    const parentElement = node.parentElement ?? node.getRootNode().host ?? null;
    if (parentElement === null || !/[^\\0-~]/.test(data)) continue;
    const { fontFamily, fontStyle, fontWeight } = getComputedStyle(parentElement);
    check(data, fontStyle + ' ' + fontWeight + ' 20px ' + fontFamily);
  }
  return [...missing];
}`;

/**
 * The characters of the document's text that its fonts lack. Text that style sheets insert is not read.
 *
 * @param others texts with or without tags, printed beside the document in fonts of the system.
 */
export async function missingCharacters(
  { session, frameId }: RenderPage,
  others: readonly string[],
): Promise<string[]> {
  const world = { frameId, worldName: 'platen' };
  const { executionContextId } = await session.send('Page.createIsolatedWorld', world);
  const { result } = await session.send('Runtime.callFunctionOn', {
    functionDeclaration: MISSING,
    executionContextId,
    returnByValue: true,
    arguments: [MAX_DRAWN, MAX_ROOTS, MAX_ELEMENTS, others].map((value) => ({ value })),
  });
  return (result.value as string[] | undefined) ?? [];
}
