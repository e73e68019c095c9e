import {
  PDFButton,
  type PDFDict,
  type PDFDocument,
  type PDFField,
  PDFName,
  PDFNumber,
  type PDFObject,
  type PDFPage,
  PDFRef,
  PDFSignature,
  PDFStream,
} from '@cantoo/pdf-lib';
import { ParentTree } from '../conformance/parent-tree.ts';
import { dictAt, KEYS, listOf, name, numberOf } from '../objects.ts';
import { addToResources, contentStream, wrapContents } from '../page-content.ts';
import { drawValue, hasAppearance, isTextual } from './draw-value.ts';
import { fieldsOf } from './fill.ts';
import { ValueFonts } from './value-fonts.ts';

/** Flags of annotations that are not seen (ISO 32000-1, 12.5.3). */
const UNSEEN = 2 | 32;

/**
 * Draws the fields of a form as a part of its pages: whoever has the document sees the same, and can change nothing. What a
 * tagged document says of a field, it says of its value afterwards.
 */
export function flattenForm(document: PDFDocument): void {
  drawMissing(document);
  const root = dictAt(document.catalog, KEYS.StructTreeRoot);
  const parents = root && new ParentTree(document, root);
  for (const [i, page] of document.getPages().entries()) flattenPage(document, { page, i }, parents);
  document.catalog.delete(name('AcroForm'));
}

/** Draws the values of fields that a reader would have had to draw. */
function drawMissing(document: PDFDocument): void {
  const fonts = new ValueFonts(document);
  for (const field of fieldsOf(document))
    if (isTextual(field) && lacksDrawing(field)) drawValue(field, fonts);
  fonts.write();
}

function lacksDrawing(field: PDFField): boolean {
  if (field instanceof PDFButton || field instanceof PDFSignature) return false;
  return field.acroField.getWidgets().some((widget) => !hasAppearance(widget));
}

function flattenPage(
  document: PDFDocument,
  { page, i }: { readonly page: PDFPage; readonly i: number },
  parents: ParentTree | undefined,
): void {
  const annotations = page.node.Annots();
  if (annotations === undefined) return;
  const { context } = document;
  const drawn: string[] = [];
  const left = annotations.asArray().filter((reference) => {
    const widget = dictAt(context.lookup(reference));
    if (widget?.lookup(KEYS.Subtype) !== name('Widget')) return true;
    const stream = appearanceOf(widget);
    const operators =
      stream === undefined ? undefined : placement(widget, context.lookup(stream) as PDFStream);
    if (stream !== undefined && operators !== undefined) {
      const called = name(`PlatenField${i}x${drawn.length}`);
      addToResources(page, called, stream);
      const mark = parents === undefined ? undefined : markFor(widget, page, parents);
      drawn.push(`${mark ?? '/Artifact BMC'}\nq\n${operators} cm\n/${called.decodeText()} Do\nQ\nEMC`);
    } else if (parents !== undefined) dropElement(widget, parents);
    if (reference instanceof PDFRef) context.delete(reference);
    return false;
  });
  if (left.length === annotations.size()) return;
  page.node.set(KEYS.Annots, context.obj(left));
  if (drawn.length === 0) return;
  wrapContents(
    document,
    page,
    contentStream(document, 'q\n'),
    contentStream(document, `\nQ\n${drawn.join('\n')}\n`),
  );
}

/** What a widget looks like at present; undefined for one that is not seen. */
function appearanceOf(widget: PDFDict): PDFRef | undefined {
  if (((numberOf(widget.lookup(name('F'))) ?? 0) & UNSEEN) !== 0) return undefined;
  let normal = dictAt(widget, 'AP')?.get(name('N'));
  const states = dictAt(widget.context.lookup(normal));
  if (states !== undefined) {
    const state = widget.lookup(name('AS'));
    normal = state instanceof PDFName ? states.get(state) : undefined;
  }
  return normal instanceof PDFRef && widget.context.lookup(normal) instanceof PDFStream ? normal : undefined;
}

/** The matrix that brings an appearance into its rectangle (ISO 32000-1, 12.5.5). */
function placement(widget: PDFDict, { dict }: PDFStream): string | undefined {
  const rect = numbersOf(widget, widget.lookup(name('Rect')), 4);
  const box = numbersOf(dict, dict.lookup(name('BBox')), 4);
  const [a, b, c, d, e, f] = numbersOf(dict, dict.lookup(name('Matrix')), 6) ?? [1, 0, 0, 1, 0, 0];
  if (rect === undefined || box === undefined) return undefined;
  const corners = [box[0]!, box[2]!].flatMap((x) =>
    [box[1]!, box[3]!].map((y) => [a! * x + c! * y + e!, b! * x + d! * y + f!] as const),
  );
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - bottom];
  if (!(width > 0) || !(height > 0)) return undefined;
  const x = Math.min(rect[0]!, rect[2]!);
  const y = Math.min(rect[1]!, rect[3]!);
  const [across, up] = [Math.abs(rect[2]! - rect[0]!) / width, Math.abs(rect[3]! - rect[1]!) / height];
  const matrix = [across, 0, 0, up, x - left * across, y - bottom * up];
  return matrix.every(Number.isFinite) ? matrix.map((each) => Number(each.toFixed(5))).join(' ') : undefined;
}

function numbersOf({ context }: PDFDict, found: PDFObject | undefined, count: number): number[] | undefined {
  const numbers = listOf(found).map((each) => numberOf(context.lookup(each)) ?? Number.NaN);
  return numbers.length === count && numbers.every(Number.isFinite) ? numbers : undefined;
}

/** Lets the element of a widget be that of what is drawn in its place. @returns the beginning of that, as marked content. */
function markFor(widget: PDFDict, page: PDFPage, parents: ParentTree): string | undefined {
  const element = elementOf(widget, parents);
  const owners = parents.listAt(page.node.lookup(KEYS.StructParents));
  if (element === undefined || owners === undefined) return undefined;
  const id = owners.size();
  owners.push(element.ref);
  const { dict } = element;
  dict.set(KEYS.S, name('Span'));
  dict.set(KEYS.Pg, page.ref);
  dict.set(KEYS.K, PDFNumber.of(id));
  const isButton = inherited(widget, 'FT') === name('Btn');
  // The value is read itself; of a box, only what it is called can be.
  if (!isButton) dict.delete(KEYS.Alt);
  return `/Span <</MCID ${id}>> BDC`;
}

/** Of a widget that is not drawn, nothing is said. */
function dropElement(widget: PDFDict, parents: ParentTree): void {
  const element = elementOf(widget, parents);
  if (element === undefined) return;
  element.dict.set(KEYS.S, name('NonStruct'));
  element.dict.delete(KEYS.K);
  element.dict.delete(KEYS.Alt);
}

function elementOf(widget: PDFDict, parents: ParentTree) {
  const ref = parents.valueAt(widget.lookup(KEYS.StructParent));
  const dict = dictAt(widget.context.lookup(ref));
  return ref instanceof PDFRef && dict !== undefined ? { ref, dict } : undefined;
}

/** A value of a widget, or of the fields above it. */
function inherited(widget: PDFDict, key: string): unknown {
  let dict: PDFDict | undefined = widget;
  for (let i = 0; dict !== undefined && i < 10; i += 1) {
    const own = dict.lookup(name(key));
    if (own !== undefined) return own;
    dict = dictAt(dict, 'Parent');
  }
  return undefined;
}
