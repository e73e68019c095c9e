/** A character that no font had, printed as an empty box. */
export interface MissingGlyph {
  readonly character: string;
  /** Such as U+0928; of several characters that make one sign, separated by spaces. */
  readonly codePoint: string;
  /** 1 for the first. */
  readonly page: number;
  readonly count: number;
}

/** What is read of the text of a printed document. */
export interface PrintedText {
  readonly missingGlyphs: readonly MissingGlyph[];
  /** How many fonts have glyphs of UNKNOWN_CHARACTER, each of one character. */
  readonly fontsWithUnknown: number;
  /** Whether there are more of them. */
  readonly cut: boolean;
}

export const MAX_GLYPHS = 200;
/** Stands for a character that a PDF does not name. */
export const UNKNOWN_CHARACTER = '\uFFFD';

/**
 * Names what a PDF does not name: of each font with missing glyphs one character. Which one follows from `missing` if only
 * one is left that the PDF names nowhere: with one such font, or with several if the PDF names no missing character at all.
 * Otherwise it stays UNKNOWN_CHARACTER.
 *
 * @param missing the characters of the document that its fonts lack.
 */
export function withFirstNamed(
  { missingGlyphs, fontsWithUnknown }: PrintedText,
  missing: readonly string[],
): readonly MissingGlyph[] {
  const named = new Set(missingGlyphs.flatMap(({ character }) => [...character]));
  named.delete(UNKNOWN_CHARACTER);
  const [first, ...others] = missing.filter((character) => !named.has(character));
  const follows = others.length === 0 && (fontsWithUnknown === 1 || named.size === 0);
  if (first === undefined || !follows) return missingGlyphs;
  return missingGlyphs.map((glyph) =>
    glyph.character === UNKNOWN_CHARACTER
      ? { ...glyph, character: first, codePoint: codePointsOf(first) }
      : glyph,
  );
}

/** Such as `U+0938 U+094D`. */
export function codePointsOf(text: string): string {
  return [...text]
    .map((one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}
