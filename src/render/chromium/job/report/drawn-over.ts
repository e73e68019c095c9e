import type { RenderOptions } from '../../../options/all/render-options.ts';
import { MARGIN_TEMPLATES } from '../../../options/core/margin-templates.ts';
import type { FinishStep } from '../../../pdf/finish-step.ts';
import type { MarginSheet } from '../../../pdf/steps/margins.ts';
import type { PrintedText } from '../../../report/missing-glyphs.ts';
import type { JobFinisher } from '../finish.ts';

/** The texts that options print beside the document: of a watermark, and of headers and footers with their tags. */
export function textsOfOptions(options: RenderOptions): string[] {
  const templates = options.displayHeaderFooter ? MARGIN_TEMPLATES.map((name) => options[name]) : [];
  return [options.watermark?.text, ...templates].filter((text) => text !== undefined);
}

/** The characters, by page, that no font had of what steps draw; a watermark, on all pages, counts on the first. */
export async function missingInSteps(
  steps: readonly FinishStep[],
  finisher: JobFinisher,
): Promise<PrintedText[]> {
  const sheets = steps.flatMap(({ step, argument }): readonly MarginSheet[] => {
    if (step === 'watermark') return [{ pdf: argument as Uint8Array, firstPage: 0 }];
    return step === 'margins' ? (argument as readonly MarginSheet[]) : [];
  });
  const found: PrintedText[] = [];
  for (const { pdf, firstPage } of sheets) {
    const printed = await finisher.printedPages(pdf);
    const missingGlyphs = printed.missingGlyphs.map((glyph) => ({ ...glyph, page: glyph.page + firstPage }));
    found.push({ ...printed, missingGlyphs });
  }
  return found;
}
