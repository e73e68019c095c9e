import type { MarginSheet } from '../../pdf/steps/margins.ts';
import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { footerTemplate } from '../footerTemplate.ts';
import { headerTemplate } from '../headerTemplate.ts';
import { defineOption, type Given, type PrintStage } from './option.ts';
import { shownTemplate } from './template-option.ts';
import { documentSchema } from './text-schemas.ts';

type Name = `${'first' | 'last'}${'Header' | 'Footer'}Template`;

/** An option by its name; it has no default. */
const named = (name: Name): { readonly name: Name; readonly default?: string } => ({ name });

/** By the template of all pages: the options that replace it on the first or last page. */
export const EXCEPTIONS: ReadonlyMap<string, readonly ReturnType<typeof named>[]> = new Map([
  [headerTemplate.name, [named('firstHeaderTemplate'), named('lastHeaderTemplate')]],
  [footerTemplate.name, [named('firstFooterTemplate'), named('lastFooterTemplate')]],
]);

/** All options whose value is the template of a header or footer. */
export const MARGIN_TEMPLATES = [
  'headerTemplate',
  'footerTemplate',
  'firstHeaderTemplate',
  'firstFooterTemplate',
  'lastHeaderTemplate',
  'lastFooterTemplate',
] as const;

/** An option for a margin of the first or last page, which replaces the template of all pages there. */
export function marginTemplate(name: Name, documentation: string) {
  return defineOption(name, documentSchema({ max: 5000 }), {
    stage: 'print',
    documentation,
    // After `displayHeaderFooter`, and after options that print the document once more.
    order: 4,
    rules: [
      {
        error: `must not be given with pageRanges: leave one of them out, such as {"${name}": ""}`,
        holds: (options) => options[name] === undefined || options.pageRanges === undefined,
      },
    ],
    // Chromium prints the same margins on all pages. So they are printed separately, and drawn over the document.
    print: () => ({ displayHeaderFooter: false }),
    // The style sheet that hides the document stays in its window.
    needs: () => ({ navigation: true }),
    afterPrint: printMargins,
  });
}

interface Margins {
  readonly header: string;
  readonly footer: string;
}

async function printMargins(_value: string, stage: PrintStage): Promise<void> {
  if (!stage.given(displayHeaderFooter)) return;
  const pages = await stage.pages();
  const sheets: MarginSheet[] = [];
  for (const { from, to, header, footer } of marginsByPage(stage.given, pages)) {
    if (header === '' && footer === '') continue;
    const pdf = await stage.printMargins({
      displayHeaderFooter: true,
      headerTemplate: shownTemplate(header, stage.given),
      footerTemplate: shownTemplate(footer, stage.given),
      pageRanges: `${from}-${to}`,
    });
    sheets.push({ pdf, firstPage: from - 1 });
  }
  if (sheets.length > 0) stage.finishBy({ step: 'margins', argument: sheets });
}

/**
 * Runs of pages with the same margins, from page 1 on. A single page is both first and last: the templates of the last
 * page apply where the first page has none.
 */
function marginsByPage(
  given: Given,
  pages: number,
): readonly (Margins & { readonly from: number; readonly to: number })[] {
  const all = { header: given(headerTemplate) ?? '', footer: given(footerTemplate) ?? '' };
  const of = (which: 'first' | 'last', otherwise: Margins): Margins => ({
    header: given(named(`${which}HeaderTemplate`)) ?? otherwise.header,
    footer: given(named(`${which}FooterTemplate`)) ?? otherwise.footer,
  });
  const last = of('last', all);
  if (pages === 1) return [{ from: 1, to: 1, ...of('first', last) }];
  const between = pages === 2 ? [] : [{ from: 2, to: pages - 1, ...all }];
  return [{ from: 1, to: 1, ...of('first', all) }, ...between, { from: pages, to: pages, ...last }];
}
