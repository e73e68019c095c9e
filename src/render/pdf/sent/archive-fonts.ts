import { PDFArray, type PDFDocument, PDFName, type PDFObject, PDFStream } from '@cantoo/pdf-lib';
import { dictAt, KEYS, name } from '../objects.ts';
import type { ArchiveFindings } from './archive-findings.ts';
import type { Drawn } from './drawn.ts';

const FILES = ['FontFile', 'FontFile2', 'FontFile3'].map(name);
/** Lists of what an embedded font has, which have to be complete, and may be left out. */
const LISTS = ['CIDSet', 'CharSet'].map(name);

/** Each font that shows a text is in the document (ISO 19005-2, 6.2.11.4). */
export function checkFonts({ context }: PDFDocument, { fonts }: Drawn, found: ArchiveFindings): void {
  for (const [font, page] of fonts) {
    if (font.get(KEYS.Subtype) === name('Type3')) continue;
    const descendants = font.lookup(name('DescendantFonts'));
    const described = descendants instanceof PDFArray ? dictAt(context.lookup(descendants.get(0))) : font;
    const descriptor = dictAt(described, 'FontDescriptor');
    if (described === undefined || !FILES.some((key) => descriptor?.lookup(key) instanceof PDFStream)) {
      found.fault(`the font ${nameOf(font.get(name('BaseFont')))} on page ${page} is not embedded`);
      continue;
    }
    for (const list of LISTS)
      if (descriptor?.delete(list)) found.removed('lists of the glyphs of fonts were removed');
    if (described.get(KEYS.Subtype) === name('CIDFontType2') && !described.has(name('CIDToGIDMap'))) {
      described.set(name('CIDToGIDMap'), name('Identity'));
      found.mended('maps of glyphs of fonts were added');
    }
  }
}

const MAX_NAME = 60;

/** Without the prefix of a subset. */
function nameOf(font: PDFObject | undefined): string {
  if (!(font instanceof PDFName)) return 'without a name';
  return font
    .decodeText()
    .replace(/^[A-Z]{6}\+/, '')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_NAME);
}
