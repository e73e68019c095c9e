import { PDFDict, type PDFDocument, PDFRef, PDFStream } from '@cantoo/pdf-lib';
import { KEYS } from '../objects.ts';
import { readStream, withText } from './content.ts';

/** Values that stand for no character (ISO 19005-2, 6.2.11.7.2). */
const NO_CHARACTER = /<(?:0000|FEFF|FFFE)>(?=\s*(?:\n|$))/gi;
/** U+FFFD: a character that is not known. */
const UNKNOWN = '<FFFD>';

/** Lets no glyph stand for a value that is no character: Skia writes zero for glyphs that belong to another's text. */
export function nameGlyphs(document: PDFDocument): void {
  const { context } = document;
  const seen = new Set<unknown>();
  for (const [, object] of context.enumerateIndirectObjects()) {
    const reference = object instanceof PDFDict ? object.get(KEYS.ToUnicode) : undefined;
    if (reference === undefined || seen.has(reference)) continue;
    seen.add(reference);
    const stream = context.lookup(reference);
    if (!(reference instanceof PDFRef) || !(stream instanceof PDFStream)) continue;
    const text = readStream(stream);
    const named = text.replace(NO_CHARACTER, UNKNOWN);
    if (named !== text) context.assign(reference, withText(document, stream, named));
  }
}
