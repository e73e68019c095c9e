import {
  PDFArray,
  type PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
} from '@cantoo/pdf-lib';
import type { ArchiveLevel } from '../conformance/target.ts';
import { dictAt, KEYS, listOf, name, numberOf } from '../objects.ts';
import type { ArchiveFindings } from './archive-findings.ts';

/** Bits of the flags of an annotation (ISO 32000-1, 12.5.3). */
const [INVISIBLE, HIDDEN, PRINT, NO_VIEW, TOGGLE_NO_VIEW] = [1, 2, 4, 32, 256];
/** What is not drawn by itself needs no appearance. */
const WITHOUT_APPEARANCE = new Set(['Popup', 'Link'].map(name));
const FORBIDDEN = new Set(['3D', 'Sound', 'Screen', 'Movie', 'RichMedia'].map(name));

/** Annotations are printed as they are seen, by an appearance of their own (ISO 19005-2, 6.3). */
export function mendAnnotations(document: PDFDocument, level: ArchiveLevel, found: ArchiveFindings): void {
  const { context } = document;
  for (const [i, { node }] of document.getPages().entries()) {
    const list = listOf(node.lookup(KEYS.Annots));
    const kept = list.filter((each) => {
      const annotation = dictAt(context.lookup(each));
      return annotation !== undefined && mend(annotation, i + 1, level, found);
    });
    if (kept.length < list.length) node.set(KEYS.Annots, context.obj(kept));
  }
}

/** @returns whether it stays. */
function mend(annotation: PDFDict, page: number, level: ArchiveLevel, found: ArchiveFindings): boolean {
  const type = annotation.get(KEYS.Subtype);
  const words = String(type).slice(1);
  const flags = numberOf(annotation.lookup(name('F'))) ?? 0;
  if ((flags & (HIDDEN! | NO_VIEW!)) !== 0) {
    found.mended('annotations that are hidden were removed');
    return false;
  }
  if (type instanceof PDFName && FORBIDDEN.has(type)) {
    found.fault(`it has an annotation on page ${page} that plays something (${words})`);
    return true;
  }
  if (level === '2b' && type === name('FileAttachment'))
    found.fault(`it has a file attached to page ${page}, which PDF/A-2 does not take: ask for 3b`);
  const wanted = (flags | PRINT!) & ~(INVISIBLE! | TOGGLE_NO_VIEW!);
  if (wanted !== flags && type !== name('Popup')) {
    annotation.set(name('F'), PDFNumber.of(wanted));
    found.mended('annotations are printed as they are seen');
  }
  if (type === name('Widget') && annotation.delete(KEYS.A)) found.mended('actions of fields were removed');
  const appearance = dictAt(annotation, 'AP');
  if (appearance?.has(name('N'))) {
    for (const key of ['R', 'D'])
      if (appearance.delete(name(key))) found.mended('appearances under the pointer were removed');
  } else if (
    !(type instanceof PDFName && WITHOUT_APPEARANCE.has(type)) &&
    !isEmpty(annotation.lookup(name('Rect')))
  )
    found.fault(`it has an annotation on page ${page} without an appearance (${words})`);
  return true;
}

/** A rectangle without an area. */
function isEmpty(rectangle: PDFObject | undefined): boolean {
  if (!(rectangle instanceof PDFArray) || rectangle.size() !== 4) return false;
  const [left, bottom, right, top] = [0, 1, 2, 3].map((i) => numberOf(rectangle.lookup(i)) ?? 0);
  return left === right && bottom === top;
}
