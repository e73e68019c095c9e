import type { RenderPage } from '../../contexts/page/render-page.ts';

/** Most pairs of a font and a character that are drawn. */
const MAX_DRAWN = 2000;

/**
 * Runs in a world of its own: returns the characters of the document's text that are drawn like one that no font has
 * (U+10FFFF is never a character). Spaces, and marks that combine with a letter, are not drawn separately.
 */
const MISSING = `(maxDrawn) => {
  const context = new OffscreenCanvas(40, 40).getContext('2d', { willReadFrequently: true });
  const draw = (text) => {
    context.clearRect(0, 0, 40, 40);
    context.fillText(text, 4, 30);
    return new Uint32Array(context.getImageData(0, 0, 40, 40).data.buffer).join();
  };
  const missing = new Set();
  const boxes = new Map();
  const drawn = new Set();
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    if (parentElement === null || !/[^\\0-~]/.test(data)) continue;
    const { fontFamily, fontStyle, fontWeight } = getComputedStyle(parentElement);
    const font = fontStyle + ' ' + fontWeight + ' 20px ' + fontFamily;
    context.font = font;
    if (!boxes.has(font)) boxes.set(font, draw('\\u{10FFFF}'));
    for (const character of new Set(data)) {
      if (/[\\0-~\\p{Z}\\p{Cc}\\p{Cf}\\p{M}]/u.test(character) || drawn.has(font + character)) continue;
      if (drawn.size >= maxDrawn) return [...missing];
      drawn.add(font + character);
      if (draw(character) === boxes.get(font)) missing.add(character);
    }
  }
  return [...missing];
}`;

/**
 * The characters of the document's text that its fonts lack. Frames, and text that style sheets insert, are not read.
 */
export async function missingCharacters({ session, frameId }: RenderPage): Promise<string[]> {
  const world = { frameId, worldName: 'platen' };
  const { executionContextId } = await session.send('Page.createIsolatedWorld', world);
  const { result } = await session.send('Runtime.callFunctionOn', {
    functionDeclaration: MISSING,
    executionContextId,
    returnByValue: true,
    arguments: [{ value: MAX_DRAWN }],
  });
  return (result.value as string[] | undefined) ?? [];
}
