import {
  PDFArray,
  type PDFDict,
  type PDFDocument,
  type PDFObject,
  type PDFPage,
  PDFRef,
} from '@cantoo/pdf-lib';
import { dictAt, KEYS, name, numberOf, textOf } from '../objects.ts';
import { MARKER_ORIGIN } from './control.ts';

/** Where a control was printed. Points. */
export interface Place {
  readonly page: PDFPage;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Nobody fills in a smaller field. Points. */
const LEAST = 3;
/** Pieces of one control may differ by this in height; others are its rest after a page break. Points. */
const ALIKE = 1;

/**
 * Takes the markers out of a printed document.
 *
 * @returns by the number of a control, where it is: once, or on each page that repeats it.
 */
export function takeMarkers(document: PDFDocument, token: string): Map<number, Place[]> {
  const prefix = `${MARKER_ORIGIN}/${token}/`;
  const found = new Map<number, Place[]>();
  for (const page of document.getPages()) {
    const annotations = page.node.Annots();
    if (annotations === undefined) continue;
    const left: PDFObject[] = [];
    for (const reference of annotations.asArray()) {
      const annotation = dictAt(document.context.lookup(reference));
      const address = textOf(dictAt(annotation, KEYS.A)?.lookup(name('URI')));
      if (annotation === undefined || !address?.startsWith(prefix)) {
        left.push(reference);
        continue;
      }
      if (reference instanceof PDFRef) document.context.delete(reference);
      const id = Number(address.slice(prefix.length));
      const place = placeOf(annotation, page);
      if (place !== undefined) found.set(id, [...(found.get(id) ?? []), place]);
    }
    page.node.set(KEYS.Annots, document.context.obj(left));
  }
  for (const [id, places] of found) {
    const tallest = Math.max(...places.map(({ height }) => height));
    found.set(
      id,
      places.filter(({ height }) => tallest - height <= ALIKE),
    );
  }
  return found;
}

function placeOf(annotation: PDFDict, page: PDFPage): Place | undefined {
  const rectangle = annotation.lookup(name('Rect'), PDFArray);
  const [left = 0, bottom = 0, right = 0, top = 0] = rectangle.asArray().map((side) => numberOf(side) ?? 0);
  const place = { page, x: left, y: bottom, width: right - left, height: top - bottom };
  return place.width < LEAST || place.height < LEAST ? undefined : place;
}
