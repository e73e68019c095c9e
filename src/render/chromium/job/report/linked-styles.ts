import type { Protocol } from 'puppeteer';
import { MAX_OF_RULE } from '../../../report/observations.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { withCssDomain } from './css-domain.ts';
import type { Fact } from './inspect-script.ts';
import { UNSUPPORTED_IN } from './unsupported-css.ts';

/** Most linked style sheets that are looked at, and characters of them together. */
const MAX_SHEETS = 50;
const MAX_CHARACTERS = 512 * 1024;

/** Runs in a world of its own. */
const UNSUPPORTED_IN_ALL = `(texts) => texts.map(${UNSUPPORTED_IN})`;

/** To be called once the document needs nothing more: its requests are blocked meanwhile. */
export async function unsupportedInLinked(page: RenderPage) {
  const { session } = page;
  const sheets: Protocol.CSS.CSSStyleSheetHeader[] = [];
  let [cut, left] = [false, MAX_CHARACTERS];
  const added = ({ header }: Protocol.CSS.StyleSheetAddedEvent) => {
    if (header.isInline || header.isConstructed || header.origin !== 'regular' || header.length === 0) return;
    if (sheets.length >= MAX_SHEETS || header.length > left) {
      cut = true;
      return;
    }
    left -= header.length;
    sheets.push(header);
  };
  session.on('CSS.styleSheetAdded', added);
  try {
    const texts = await withCssDomain(session, () =>
      Promise.all(
        sheets.map(
          async ({ styleSheetId }) => (await session.send('CSS.getStyleSheetText', { styleSheetId })).text,
        ),
      ),
    );
    cut ||= texts.includes('');
    const found = await page.runIsolated<string[][]>(UNSUPPORTED_IN_ALL, texts);
    const facts = sheets.flatMap(({ sourceURL }, i) =>
      found[i]!.map(
        (name): Fact => ({ kind: 'unsupported', selector: '', name, numbers: [], sheet: sourceURL }),
      ),
    );
    return { facts: facts.slice(0, MAX_OF_RULE), cut: cut || facts.length > MAX_OF_RULE };
  } finally {
    session.off('CSS.styleSheetAdded', added);
  }
}
