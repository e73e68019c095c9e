import {
  type PDFDict,
  type PDFDocument,
  PDFHexString,
  type PDFPage,
  type PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import type { SealAppearance } from '../seal/placeholder.ts';
import { nameGlyphs } from './conformance/fonts.ts';
import { StructureTree } from './conformance/structure.ts';
import { name } from './objects.ts';
import { RefusedPdf } from './sent/refusal.ts';

const MM_PER_POINT = 25.4 / 72;
/** By which lengths may differ through rounding, in points. */
const TOLERANCE = 0.5;

/** @param number from 1 on, or from -1 back. @throws RefusedPdf SEAL_FAILED for a page that is not there. */
export function pageOf(document: PDFDocument, number: number): PDFPage {
  const pages = document.getPages();
  const page = pages.at(number > 0 ? number - 1 : number);
  if (page !== undefined) return page;
  const has = pages.length === 1 ? '1 page' : `${pages.length} pages`;
  throw new RefusedPdf('SEAL_FAILED', `The document has ${has}, and seal.visible.page is ${number}.`);
}

/**
 * Draws a seal on its page, as the appearance of its field, and tells those who do not see it of it (ISO 14289-1, 7.18.4).
 *
 * @throws RefusedPdf SEAL_FAILED for one that is not on the page.
 */
export async function drawSeal(
  page: PDFPage,
  widget: PDFDict,
  ref: PDFRef,
  { rect, sheet, description }: SealAppearance,
): Promise<void> {
  const document = page.doc;
  const { context } = document;
  const [drawing] = await document.embedPdf(sheet, [0]);
  if (drawing === undefined) throw new Error('The appearance has no page.');
  await drawing.embed();
  // What a page that is turned shows upright.
  const angle = (page.getRotation().angle * Math.PI) / 180;
  const turn = [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0];
  context.lookup(drawing.ref, PDFStream).dict.set(name('Matrix'), context.obj(turn.map(Math.round)));
  widget.set(name('Rect'), context.obj(corners(page, rect)));
  widget.set(name('AP'), context.obj({ N: drawing.ref }));
  widget.set(name('TU'), PDFHexString.fromText(description));
  nameGlyphs(document);
  const tree = StructureTree.of(document);
  if (tree === undefined) return;
  tree.addFor(ref, page.ref, 'Form');
  page.node.set(name('Tabs'), name('S'));
}

/** Of a rectangle on the page as it is shown, in the page's own coordinates. */
function corners(page: PDFPage, { left, top, width, height }: SealAppearance['rect']): number[] {
  const box = page.getCropBox();
  const angle = ((page.getRotation().angle % 360) + 360) % 360;
  const isOnSide = angle % 180 !== 0;
  const [wide, high] = isOnSide ? [box.height, box.width] : [box.width, box.height];
  if (left + width > wide + TOLERANCE || top + height > high + TOLERANCE) {
    const [mmWide, mmHigh] = [wide, high].map((side) => Math.round(side * MM_PER_POINT));
    const message = `seal.visible.rect reaches beyond its page, which is ${mmWide} mm wide and ${mmHigh} mm high.`;
    throw new RefusedPdf('SEAL_FAILED', message);
  }
  const [right, bottom] = [left + width, top + height];
  const own: Record<number, readonly [number, number, number, number]> = {
    0: [left, high - bottom, right, high - top],
    90: [top, left, bottom, right],
    180: [wide - right, top, wide - left, bottom],
    270: [high - bottom, wide - right, high - top, wide - left],
  };
  return (own[angle] ?? own[0]!).map((value, i) => value + (i % 2 === 0 ? box.x : box.y));
}
