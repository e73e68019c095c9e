import { z } from 'zod';
import type { SealAppearance } from '../../seal/placeholder.ts';
import { escapeHtml } from './escape-html.ts';
import { lengthInInches, lengthSchema } from './lengths.ts';
import type { FinishStage } from './option.ts';
import { holds } from './text-checks.ts';
import { documentSchema, lineSchema } from './text-schemas.ts';

const MAX_HTML = 256 * 1024;
const MAX_PAGE = 10_000;
/** The least side of what is drawn, in inches: 5 mm. */
const MIN_SIDE = 4.999 / 25.4;
const POINTS = 72;
/** Of the largest size of the text, in points, and of a character and a line in ems. */
const MAX_TEXT = 12;
const CHARACTER_EMS = 0.56;
const LINE_EMS = 1.25;

/** Elements that lead elsewhere; names of elements are always written out. */
const LOADS = /<(?:base|embed|fencedframe|frame|iframe|link|meta|object|portal)/i;
const LOADS_ERROR =
  'must not have the elements base, embed, frame, iframe, link, meta and object; pictures and fonts are data: addresses';

const side = lengthSchema.refine((text) => (lengthInInches(text) ?? MIN_SIDE) >= MIN_SIDE, {
  error: 'must be at least 5mm',
});

/** Where a seal is drawn, and what. */
export const visibleSchema = z.strictObject({
  page: z
    .int()
    .min(-MAX_PAGE)
    .max(MAX_PAGE)
    .refine((page) => page !== 0, { error: 'must be 1 or more, or -1 for the last page' })
    .describe('The page: 1 is the first, -1 the last.'),
  rect: z
    .strictObject({
      left: lengthSchema.describe('From the left edge of the page.'),
      top: lengthSchema.describe('From the upper edge of the page.'),
      width: side.describe('At least 5mm.'),
      height: side.describe('At least 5mm.'),
    })
    .describe('Where on the page. It has to be within it.'),
  name: lineSchema({ min: 1, max: 255 })
    .optional()
    .describe('Who seals, as it is drawn. The certificate says who does; Platen does not compare.'),
  html: documentSchema({ min: 1, max: MAX_HTML })
    .check(holds((text) => !LOADS.test(text), LOADS_ERROR))
    .optional()
    .describe(
      'What is drawn, in place of name, reason, location and time. It runs no script, and has pictures and fonts only as data: addresses.',
    ),
});

interface SealTexts {
  readonly reason?: string | undefined;
  readonly location?: string | undefined;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Prints how a seal looks. */
export async function appearanceOf(
  { page, rect, name, html }: z.output<typeof visibleSchema>,
  { reason, location, at }: SealTexts,
  { printSheet }: FinishStage,
): Promise<SealAppearance> {
  const inches = (text: string) => lengthInInches(text)!;
  const size = [inches(rect.width), inches(rect.height)] as const;
  const time = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const lines = [name, reason, location, time].filter((line) => line !== undefined);
  const sheet = await printSheet(STYLE + (html ?? linesHtml(lines, size)), size);
  const points = (text: string) => inches(text) * POINTS;
  const { left, top, width, height } = rect;
  return {
    page,
    rect: { left: points(left), top: points(top), width: points(width), height: points(height) },
    sheet,
    description: lines.join(', '),
  };
}

const STYLE =
  '<!doctype html><meta charset="utf-8"><style>html, body { margin: 0; height: 100%; overflow: hidden }</style>';

/** One below the other, as large as there is room for. */
function linesHtml(lines: readonly string[], [width, height]: readonly [number, number]): string {
  const longest = Math.max(...lines.map((line) => [...line].length));
  const points = Math.min(
    MAX_TEXT,
    (height * POINTS) / (lines.length * LINE_EMS),
    (width * POINTS) / (longest * CHARACTER_EMS),
  );
  const style = `font: ${points.toFixed(2)}pt/${LINE_EMS} sans-serif; white-space: pre`;
  return lines.map((line) => `<div style="${style}">${escapeHtml(line)}</div>`).join('');
}
