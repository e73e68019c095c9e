import { type FontUse, MAX_FONTS } from '../../../report/findings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { withCssDomain } from './css-domain.ts';

/** Most text nodes that are examined. */
const MAX_ELEMENTS = 5000;
/** Chromium sends all children of the elements around one that is asked about. Where there are more, it is not asked. */
const MAX_CHILDREN = 20_000;

/** Runs in a world of its own: for each list of families, finds the first element whose own text is set in it. */
const ASKED = `(maxElements, maxFonts, maxChildren) => {
  const found = new Map();
  const isAmongMany = (element) => {
    for (let e = element; e; e = e.parentElement) if (e.childNodes.length > maxChildren) return true;
    return false;
  };
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let i = 0; i < maxElements && found.size < maxFonts && walker.nextNode(); i++) {
    const { parentElement, data } = walker.currentNode;
    if (parentElement === null || !/\\S/.test(data.slice(0, 200))) continue;
    const { fontFamily, display } = getComputedStyle(parentElement);
    if (display === 'none' || found.has(fontFamily)) continue;
    if (parentElement.getClientRects().length > 0 && !isAmongMany(parentElement)) found.set(fontFamily, parentElement);
  }
  return { families: [...found.keys()].map((list) => list.slice(0, 300)), elements: [...found.values()] };
}`;

/**
 * The fonts that the document requests, and the fonts that it is drawn in, for the first element of each list of
 * families. To be called once the document needs nothing more: its requests are blocked meanwhile.
 */
export async function fontsUsed({ session, frameId }: RenderPage): Promise<FontUse[]> {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId,
    worldName: 'platen',
  });
  const { result } = await session.send('Runtime.callFunctionOn', {
    functionDeclaration: ASKED,
    executionContextId,
    arguments: [{ value: MAX_ELEMENTS }, { value: MAX_FONTS }, { value: MAX_CHILDREN }],
  });
  if (result.objectId === undefined) return [];
  const read = (functionDeclaration: string, returnByValue: boolean, ...values: unknown[]) =>
    session.send('Runtime.callFunctionOn', {
      functionDeclaration,
      objectId: result.objectId!,
      returnByValue,
      arguments: values.map((value) => ({ value })),
    });
  return await withCssDomain(session, async () => {
    const { result: listed } = await read('function() { return this.families; }', true);
    return await Promise.all(
      (listed.value as string[]).map(async (families, i) => {
        const { result: element } = await read('function(i) { return this.elements[i]; }', false, i);
        const { nodeId } = await session.send('DOM.requestNode', { objectId: element.objectId! });
        const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
        const used = fonts.slice(0, 10).map(({ familyName, isCustomFont }) => ({
          family: familyName.slice(0, 100),
          webFont: isCustomFont,
        }));
        return { asked: familiesOf(families), used };
      }),
    );
  });
}

/** The families of a value of `font-family`, without their quotes. */
function familiesOf(list: string): string[] {
  return list
    .split(',')
    .map((family) => family.trim().replace(/^["']|["']$/g, ''))
    .filter((family) => family !== '')
    .slice(0, 20);
}
