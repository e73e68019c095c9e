import type { Protocol } from 'puppeteer';
import type { RenderPage } from '../../page/render-page.ts';

/** Rules of style sheets that are looked at; further ones are taken to say nothing about fonts. */
const MAX_RULES = 20_000;

/**
 * Runs in the document: loads its web fonts, and has them used. Two kinds would not be
 * (docs/decisions/0329-fonts-that-the-screen-does-not-wait-for.md):
 *
 * - Fonts that may be displayed only while they are early (`font-display: optional` or `fallback`): within 100 ms, and
 *   within 3 s. A print waits for them anyway, so they are used whenever they have come.
 * - Fonts that only margin boxes of `@page` are set in: no layout of the screen asks for them, and the print does not wait.
 *
 * Returns whether fonts of the first kind are left, of style sheets that no script may read since they are of another
 * origin: see displayForeignFonts.
 */
export const LOAD_FONTS = `async () => {
  // The document's own, whatever its elements are named.
  const own = (name) => Reflect.get(Document.prototype, name, document);
  const root = own('documentElement');
  const fonts = own('fonts');
  // Fonts are asked for by layout.
  const layout = () => root?.getBoundingClientRect();
  const isBrief = ({ display }) => display === 'optional' || display === 'fallback';
  layout();
  const faces = [...fonts];
  let hasLeft = false;
  const brief = faces.some(isBrief);
  if (brief || faces.some(({ status }) => status === 'unloaded')) {
    let left = ${MAX_RULES};
    let isForeign = false;
    const boxes = [];
    const loadFor = ({ box, page }) => {
      const styles = [box, page, getComputedStyle(root)];
      const value = (name) => styles.map((style) => style.getPropertyValue(name)).find((found) => found !== '');
      const font = ['font-style', 'font-weight'].map(value).join(' ') + ' 16px ' + value('font-family');
      return fonts.load(font, box.content + '0123456789');
    };
    const visit = (rules) => {
      for (const rule of rules) {
        if (left-- <= 0) return;
        if (rule instanceof CSSFontFaceRule) {
          if (brief && isBrief({ display: rule.style.getPropertyValue('font-display') }))
            rule.style.setProperty('font-display', 'block');
        } else if (rule instanceof CSSPageRule) {
          for (const { style } of rule.cssRules ?? []) boxes.push({ box: style, page: rule.style });
        } else if (rule.styleSheet) visitSheet(rule.styleSheet);
        else if (rule.cssRules && !(rule instanceof CSSStyleRule)) visit(rule.cssRules);
      }
    };
    const visitSheet = (sheet) => {
      let rules = [];
      try { rules = sheet.cssRules; } catch { isForeign = true; }
      visit(rules);
    };
    for (const sheet of [...own('styleSheets'), ...own('adoptedStyleSheets')]) visitSheet(sheet);
    if (brief) {
      layout();
      // Of a font that has come it is too late for this.
      for (const face of fonts) {
        if (!isBrief(face)) continue;
        hasLeft ||= face.status === 'loaded' && isForeign;
        face.display = 'block';
      }
      layout();
    }
    await Promise.allSettled(boxes.map(loadFor));
  }
  await fonts.ready;
  return hasLeft;
}`;

/** Bytes of style sheets of other origins that are looked at for fonts. */
const MAX_SHEET = 2 * 1024 * 1024;
const BRIEF = /font-display\s*:\s*(?:optional|fallback)/gi;

/**
 * Has the fonts used that came late for `font-display`, of style sheets that only the browser itself may read: their rules
 * are changed. Chromium fetches style sheets once more for that which it has not in its cache.
 */
export async function displayForeignFonts({ session }: RenderPage): Promise<void> {
  const sheets: Protocol.CSS.CSSStyleSheetHeader[] = [];
  const onAdded = ({ header }: Protocol.CSS.StyleSheetAddedEvent) => sheets.push(header);
  session.on('CSS.styleSheetAdded', onAdded);
  try {
    await Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]);
    for (const { styleSheetId, isInline, length } of sheets) {
      if (isInline || length > MAX_SHEET) continue;
      const { text } = await session.send('CSS.getStyleSheetText', { styleSheetId });
      const changed = text.replaceAll(BRIEF, 'font-display: block');
      if (changed !== text) await session.send('CSS.setStyleSheetText', { styleSheetId, text: changed });
    }
  } finally {
    session.off('CSS.styleSheetAdded', onAdded);
    session.send('CSS.disable').catch(() => undefined);
    session.send('DOM.disable').catch(() => undefined);
  }
}

/** Loads the document's web fonts; once they are there, what is printed is set in them. */
export async function loadFonts(page: RenderPage): Promise<void> {
  if (!(await page.runIsolated<boolean>(LOAD_FONTS))) return;
  await displayForeignFonts(page);
  await page.runIsolated(LOAD_FONTS);
}
