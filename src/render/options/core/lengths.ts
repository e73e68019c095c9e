import { z } from 'zod';
import { holds } from './text-checks.ts';

/** Inches. */
export type Size = readonly [width: number, height: number];

const millimetres = (width: number, height: number): Size => [width / 25.4, height / 25.4];

/** Paper formats in inches, upright, by their definitions: ISO 216 in millimetres, the American ones in inches. */
export const PAPER_INCHES = {
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
  A3: millimetres(297, 420),
  A4: millimetres(210, 297),
  A5: millimetres(148, 210),
} as const satisfies Record<string, Size>;

export type PaperFormat = keyof typeof PAPER_INCHES;

/** The paper size in the orientation of printing. */
export function asPrinted([width, height]: Size, landscape = false): Size {
  return landscape ? [height, width] : [width, height];
}

/** The shortest side of a page that can be asked for. Inches. */
export const MIN_PAPER_INCHES = 0.5;

/** The longest side of a page that viewers and PDF/A support (ISO 32000-1, annex C). Inches. */
export const MAX_PAPER_INCHES = 200;

/** CSS absolute units in inches (CSS Values 4, section 6.2). A bare number counts as pixels. */
const UNIT_INCHES: ReadonlyMap<string, number> = new Map([
  ['px', 1 / 96],
  ['in', 1],
  ['cm', 1 / 2.54],
  ['mm', 1 / 25.4],
  ['pt', 1 / 72],
  ['pc', 1 / 6],
  ['q', 1 / 101.6],
]);

/** Most characters of a length, including surrounding spaces. */
const MAX_LENGTH_CHARS = 32;

/**
 * Converts a length such as `12mm` to inches; undefined when it is not a non-negative absolute length, or its text is
 * too long.
 */
export function lengthInInches(length: string): number | undefined {
  if (length.length > MAX_LENGTH_CHARS) return undefined;
  // Trimmed before matching: with spaces in the pattern too, matching would take quadratic time in their number.
  const match = /^(\d+(?:\.\d+)?|\.\d+) *([a-z]*)$/i.exec(length.replace(/^ +| +$/g, ''));
  if (!match) return undefined;
  const perUnit = UNIT_INCHES.get((match[2] || 'px').toLowerCase());
  return perUnit === undefined ? undefined : Number(match[1]) * perUnit;
}

export const lengthSchema = z
  .string()
  .max(MAX_LENGTH_CHARS)
  .check(
    holds(
      (text) => lengthInInches(text) !== undefined,
      'must be a length such as 12mm, 0.5in, 1cm, 36pt or 48px',
    ),
  );
