import { z } from 'zod';
import { asPrinted, lengthInInches, lengthSchema, PAPER_INCHES, type PaperFormat } from './core/lengths.ts';
import { EXCEPTIONS } from './core/margin-templates.ts';
import { defineOption } from './core/option.ts';
import { displayHeaderFooter } from './displayHeaderFooter.ts';
import { footerTemplate } from './footerTemplate.ts';
import { headerTemplate } from './headerTemplate.ts';

/** Default margin of a side with a header or footer, which the document would otherwise cover. Inches. */
const HEADER_MARGIN = 1 / 2.54;

export const margin = defineOption(
  'margin',
  z
    .strictObject({
      top: lengthSchema.describe('Above the document, where the header is printed.'),
      right: lengthSchema.describe('To the right of the document.'),
      bottom: lengthSchema.describe('Below the document, where the footer is printed.'),
      left: lengthSchema.describe('To the left of the document.'),
    })
    .partial(),
  {
    stage: 'print',
    documentation:
      'Margins of the page, each a length with a unit (px, in, cm, mm, pt, pc, Q; without one, px). Default 0 on each side, or 1cm where there is a header or footer.',
    default: {},
    rules: [{ error: 'must leave room to print on', holds: leaveRoom }],
    print({ top, right, bottom, left }, given) {
      const side = (length: string | undefined, template?: typeof headerTemplate) => {
        if (length !== undefined) return lengthInInches(length) ?? 0;
        if (!template || !given(displayHeaderFooter)) return 0;
        return [template, ...EXCEPTIONS.get(template.name)!].some((each) => given(each)) ? HEADER_MARGIN : 0;
      };
      return {
        marginTop: side(top, headerTemplate),
        marginBottom: side(bottom, footerTemplate),
        marginLeft: side(left),
        marginRight: side(right),
      };
    },
  },
);

/** Whether the margins leave part of the paper free. */
function leaveRoom({
  format,
  width: ownWidth,
  height: ownHeight,
  landscape,
  preferCSSPageSize,
  margin: given,
}: Readonly<Record<string, unknown>>) {
  // The document chooses its paper, whose size is not known in advance.
  if (preferCSSPageSize === true || typeof given !== 'object' || given === null) return true;
  const known = typeof format === 'string' && Object.hasOwn(PAPER_INCHES, format);
  const inches = (side: unknown) => (typeof side === 'string' ? lengthInInches(side) : undefined) ?? 0;
  const own = [inches(ownWidth), inches(ownHeight)] as const;
  const paper = own.every((side) => side > 0) ? own : PAPER_INCHES[known ? (format as PaperFormat) : 'A4'];
  const [width, height] = asPrinted(paper, landscape === true);
  const { top, right, bottom, left } = given as Record<string, unknown>;
  return inches(left) + inches(right) < width && inches(top) + inches(bottom) < height;
}
