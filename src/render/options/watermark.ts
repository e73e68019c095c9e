import { z } from 'zod';
import { escapeHtml } from './core/escape-html.ts';
import { defineOption } from './core/option.ts';
import { paperOf } from './core/paper.ts';
import { lineSchema } from './core/text-schemas.ts';

const DEFAULTS = { opacity: 0.15, rotation: 45, color: '#888888' };
/** Part of the page's length in the direction of the text that the text takes. */
const FILL = 0.8;
/** Width of a bold sans-serif character in ems, slightly above average. */
const CHARACTER_EMS = 0.62;
/** Largest font size, as a share of the page's shorter side. */
const MAX_SIZE = 0.2;
/** Characters of CSS colours; a text with any other could contain more than a colour. */
const COLOR = /^[#a-z0-9(),.%/ +-]+$/i;

const schema = z.strictObject({
  text: lineSchema({ min: 1, max: 120 }).describe('The text, which is made as large as the page allows.'),
  opacity: z
    .number()
    .min(0.02)
    .max(0.6)
    .optional()
    .describe('How dense the text is: 1 would hide the document. Default 0.15.'),
  rotation: z.number().min(-90).max(90).optional().describe('Degrees, counter-clockwise. Default 45.'),
  color: lineSchema({ min: 1, max: 40 }).optional().describe('A CSS colour. Default #888888.'),
});

export type Watermark = z.output<typeof schema>;

/** The watermark of a test render. */
interface TestWatermark extends Watermark {
  /** What the options of the render ask for, which is printed as well; absent without one. */
  readonly own?: Watermark;
}

const TEST_TEXT = 'TEST';
/** Degrees between two watermarks from which both can be read, and what the second one is turned by where they are closer. */
const APART = 30;
const TURNED = 45;

/** The watermark of a test render, whatever its options are, and with it the one that they ask for. */
export function testWatermark(own: Watermark | undefined): TestWatermark {
  return own === undefined ? { text: TEST_TEXT } : { text: TEST_TEXT, own };
}

/** The watermark that the options of a test render asked for. */
export function ownWatermark(watermark: TestWatermark | undefined): Watermark | undefined {
  return watermark?.own;
}

/**
 * Printed alone, on a sheet whose side is the diagonal of the document's format. The text is sized to fit into that
 * format, in any font and script. The finisher draws the sheet over every page.
 */
export const watermark = defineOption('watermark', schema, {
  stage: 'finish',
  documentation: 'A text over the content of every page.',
  order: 1,
  async finish(value, { given, printSheet }) {
    const [width, height] = paperOf(given);
    const html = watermarkHtml(value, width, height);
    const side = Math.hypot(width, height);
    return { step: 'watermark', argument: await printSheet(html, [side, side]) };
  },
});

/** @param width and @param height of the page in inches. */
export function watermarkHtml(value: TestWatermark, width: number, height: number): string {
  const { own } = value;
  const { rotation: turned = DEFAULTS.rotation } = own ?? {};
  const rotation = Math.abs(turned - DEFAULTS.rotation) < APART ? turned - TURNED * 2 : DEFAULTS.rotation;
  const marks = own === undefined ? [value] : [own, { ...value, rotation }];
  return `<!doctype html><meta charset="utf-8"><style>
html, body { margin: 0; height: 100%; overflow: hidden }
body { display: grid; place-items: center }
p { grid-area: 1 / 1; margin: 0; white-space: pre }
</style>${marks.map((mark) => markHtml(mark, width, height)).join('')}`;
}

function markHtml(value: Watermark, width: number, height: number): string {
  const { text, opacity = DEFAULTS.opacity, rotation = DEFAULTS.rotation } = value;
  const color = value.color && COLOR.test(value.color) ? value.color : DEFAULTS.color;
  const angle = (rotation * Math.PI) / 180;
  const reach = Math.min(width / Math.abs(Math.cos(angle)), height / Math.abs(Math.sin(angle)));
  const size = Math.min(
    (reach * FILL) / ([...text].length * CHARACTER_EMS),
    Math.min(width, height) * MAX_SIZE,
  );
  const style = `font: bold ${size.toFixed(4)}in sans-serif; color: ${DEFAULTS.color}; color: ${color}; opacity: ${opacity}; transform: rotate(${-rotation}deg)`;
  return `<p style="${style}">${escapeHtml(text)}</p>`;
}
