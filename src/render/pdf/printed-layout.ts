import type { PrintedLayout } from '../report/print-facts.ts';

/** Skia draws in units of one 300th of an inch, of which a CSS pixel has as many. */
const UNITS_OF_PIXEL = 300 / 96;
const NUMBER = '(-?[\\d.]+)';
/**
 * The beginning of a page's content as Skia writes it: the units of the page, the clip of its printable area if that is
 * not the whole page, and the matrix of the document.
 */
const BEGINNING = new RegExp(
  `^[\\d.]+ 0 0 -[\\d.]+ 0 ${NUMBER} cm\\nq\\n(?:${NUMBER} ${NUMBER} ${NUMBER} ${NUMBER} re\\nW\\*? n\\nq\\n)?` +
    `${NUMBER} 0 0 ${NUMBER} ${NUMBER} ${NUMBER} cm\\n`,
);
/** Characters of a content stream in which its beginning is looked for. */
const BEGINNING_CHARS = 400;

/** Operators that put something on paper (ISO 32000-1, annex A), but for fills. */
const DRAWS = /\b(?:Tj|TJ|Do|sh|EI|S|s|B\*?|b\*?)\s/;
const FILLS = /\bf\*?\s/;
/** Fills with patterns, such as pictures, and with colours that are not given as red, green and blue. */
const OTHER_FILLS = /\b(?:scn|sc|g|k)\s/;
/** Colours of fills. */
const COLOURS = /([\d.]+) ([\d.]+) ([\d.]+) rg\b/g;

/**
 * Reads the layout of a page from its content.
 *
 * @returns undefined when the page draws something else first, such as a picture.
 */
export function printedLayout(content: string): PrintedLayout | undefined {
  const found = BEGINNING.exec(content.slice(0, BEGINNING_CHARS));
  if (found === null) return undefined;
  const [, , , , clipWidth, , across, down] = found.map(Number);
  if (!across || across !== down || !clipWidth) return undefined;
  return { scale: across / UNITS_OF_PIXEL, width: clipWidth / across };
}

/** Whether a page's content leaves the paper white. */
export function isBlank(content: string): boolean {
  if (DRAWS.test(content) || OTHER_FILLS.test(content)) return false;
  if (!FILLS.test(content)) return true;
  const colours = [...content.matchAll(COLOURS)];
  return colours.length > 0 && colours.every(([, ...parts]) => parts.every((part) => Number(part) === 1));
}
