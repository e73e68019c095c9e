/** A character that no font had, printed as an empty box. */
export interface MissingGlyph {
  readonly character: string;
  /** Such as U+0928; for a sign of several characters, separated by spaces. */
  readonly codePoint: string;
  /** Page number, from 1 on. */
  readonly page: number;
  readonly count: number;
}

/** The characters without a font in a printed document. */
export interface PrintedText {
  readonly missingGlyphs: readonly MissingGlyph[];
  /** Number of fonts with glyphs of UNKNOWN_CHARACTER, each for one character. */
  readonly fontsWithUnknown: number;
  /** Whether the list was truncated. */
  readonly cut: boolean;
}

export const MAX_GLYPHS = 200;
/** Stands for a character that a PDF does not name. */
export const UNKNOWN_CHARACTER = '\uFFFD';

/**
 * Names characters that a PDF does not name: one per font with missing glyphs. The character is known if `missing`
 * contains only one that the PDF names nowhere, and there is either one such font, or several while the PDF names no
 * missing character at all. Otherwise it stays UNKNOWN_CHARACTER.
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
