import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { documentSchema } from './core/text-schemas.ts';

/**
 * Runs in the document: adds style sheets that are not subject to the document's policy and do not show in its markup.
 */
const ADOPT = `(styles) => {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...styles.map((style) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    return sheet;
  })];
}`;

export const styles = defineOption('styles', shortList(documentSchema({ max: 100_000 }), 10), {
  stage: 'wait',
  documentation:
    'Style sheets that are added to the document once it is loaded, after its own. They may not contain @import. The ' +
    "document's Content-Security-Policy does not apply to them.",
  // Before `scripts`, which may measure the document.
  order: -2,
  needs: (value) => (value.length === 0 ? {} : { navigation: true }),
  insert: (value, { page }) => page.runIsolated(ADOPT, value),
});
