import { isDeepStrictEqual } from 'node:util';
import type { MarginSheet } from '../../pdf/steps/margins.ts';
import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { footerTemplate } from '../footerTemplate.ts';
import { headerTemplate } from '../headerTemplate.ts';
import { defineOption, type PrintStage } from './option.ts';
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

/** Prints headers and footers by themselves. The finisher draws them over the pages, as artefacts. */
export async function printMargins(_value: unknown, stage: PrintStage): Promise<void> {
  if (!stage.given(displayHeaderFooter)) return;
  const sheets: MarginSheet[] = [];
  for (const { from, ranges, header, footer } of await marginsByPage(stage)) {
    if (header === '' && footer === '') continue;
    const pdf = await stage.printMargins({
      displayHeaderFooter: true,
      headerTemplate: shownTemplate(header, stage.given),
      footerTemplate: shownTemplate(footer, stage.given),
      pageRanges: ranges,
    });
    sheets.push({ pdf, firstPage: from - 1 });
  }
  if (sheets.length > 0) stage.finishBy({ step: 'margins', argument: sheets });
}

/** A run of printed pages with the same margins. */
interface Run extends Margins {
  /** Its first page, from 1 on. */
  readonly from: number;
  /** Its pages in the document. */
  readonly ranges: string;
}

/**
 * Runs of pages with the same margins, from page 1 on. A single page is both first and last: the templates of the last
 * page apply where the first page has none. The pages of `pageRanges` have the margins of all pages.
 */
async function marginsByPage(stage: PrintStage): Promise<readonly Run[]> {
  const { given } = stage;
  const all = { header: given(headerTemplate) ?? '', footer: given(footerTemplate) ?? '' };
  const printed = stage.settings.pageRanges;
  if (printed !== undefined) return [{ from: 1, ranges: printed, ...all }];
  const run = (from: number, to: number, margins: Margins): Run => ({
    from,
    ranges: `${from}-${to}`,
    ...margins,
  });
  const of = (which: 'first' | 'last', otherwise: Margins): Margins => ({
    header: given(named(`${which}HeaderTemplate`)) ?? otherwise.header,
    footer: given(named(`${which}FooterTemplate`)) ?? otherwise.footer,
  });
  const pages = await stage.pages();
  const [first, last] = [of('first', all), of('last', all)];
  if (isDeepStrictEqual([first, last], [all, all])) return [run(1, pages, all)];
  if (pages === 1) return [run(1, 1, of('first', last))];
  const between = pages === 2 ? [] : [run(2, pages - 1, all)];
  return [run(1, 1, first), ...between, run(pages, pages, last)];
}
