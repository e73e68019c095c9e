import type { MissingGlyph } from './missing-glyphs.ts';

/**
 * What keeps a document from being accessible, or archived, and only its author can mend.
 *
 * - `language`: the document does not say its language, or one that there is not.
 * - `title`: the document has no title.
 * - `alternativeText`: a picture without a text in its place.
 * - `headingOrder`: headings that do not begin with level 1, or skip a level.
 * - `headingText`: a heading without a text.
 * - `listItems`: a list of something else than items, or an item outside of a list.
 * - `tableHeaders`: a table without header cells, or with some that are not of any use.
 * - `fieldLabel`: a form field without a label.
 * - `linkText`: a link without a text.
 * - `tabOrder`: an order of the keyboard that is not the order of the document.
 * - `contrast`: text that stands out too little from what is behind it, or a link from the text around it.
 * - `missingCharacter`: a character that no font has.
 */
export const ACCESSIBILITY_RULES = [
  'language',
  'title',
  'alternativeText',
  'headingOrder',
  'headingText',
  'listItems',
  'tableHeaders',
  'fieldLabel',
  'linkText',
  'tabOrder',
  'contrast',
  'missingCharacter',
] as const;
export type AccessibilityRule = (typeof ACCESSIBILITY_RULES)[number];

/** One thing that its author can mend. */
export interface AccessibilityFault {
  readonly rule: AccessibilityRule;
  /** A sentence that says what, and what to do about it. */
  readonly message: string;
  /** A CSS selector of the element; null where there is none. */
  readonly selector: string | null;
  /** Page number, from 1 on; null where it is not known. */
  readonly page: number | null;
  /** Whether the document is at fault, or the fonts that it is printed with. */
  readonly whose: 'document' | 'font';
}

/** The most faults of a report, and of one rule among them. */
export const MAX_FAULTS = 100;
export const MAX_FAULTS_OF_RULE = 20;
/** Faults that an error lists. */
const LISTED = 10;

/**
 * Characters that no font has, as faults: one for each character.
 *
 * @param places by character: a selector of the first element that it is in, where it is known.
 */
export function missingCharacterFaults(
  missing: readonly MissingGlyph[],
  places: Readonly<Record<string, string>>,
): AccessibilityFault[] {
  const first = new Map<string, MissingGlyph>();
  for (const glyph of missing) if (!first.has(glyph.codePoint)) first.set(glyph.codePoint, glyph);
  return [...first.values()].map(({ character, codePoint, page }) => ({
    rule: 'missingCharacter',
    message:
      `no font has "${character}" (${codePoint}), on page ${page}; name a font in the style sheet that has it, or load one ` +
      'by @font-face',
    selector: (Object.hasOwn(places, character) && places[character]) || null,
    page,
    whose: 'font',
  }));
}

/** Rules that the PDF itself shows as well: what it shows is a fault in any case. */
const SEEN_IN_PDF: readonly AccessibilityRule[] = ['language', 'title', 'alternativeText', 'headingOrder'];

/**
 * Faults that were found in the document, with the page of each, and those that its PDF alone has shown; by their rules.
 *
 * @param found in the document, with selectors. @param printed in its PDF, with pages, in the same order.
 */
export function withPages(
  found: readonly AccessibilityFault[],
  printed: readonly AccessibilityFault[],
): AccessibilityFault[] {
  const of = (faults: readonly AccessibilityFault[], wanted: AccessibilityRule) =>
    faults.filter(({ rule }) => rule === wanted);
  return ACCESSIBILITY_RULES.flatMap((rule) => {
    const [own, same] = [of(found, rule), of(printed, rule)];
    if (own.length === 0) return SEEN_IN_PDF.includes(rule) ? same : [];
    // As many as there are elements, which are in the same order.
    if (own.length !== same.length) return own;
    return own.map((fault, i) => ({ ...fault, page: fault.page ?? same[i]!.page }));
  });
}

/** The faults in the words of an error, which are those of the report. */
export function listOfFaults(faults: readonly AccessibilityFault[], target: string): string {
  const listed = faults.slice(0, LISTED).map(({ message }) => message);
  const more = faults.length - listed.length;
  const count = faults.length === 1 ? '1 fault keeps' : `${faults.length} faults keep`;
  const rest = more > 0 ? `; and ${more} more, which the report lists` : '';
  return `${count} the document from ${target}: ${listed.join('; ')}${rest}.`;
}
