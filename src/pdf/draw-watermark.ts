import { PDFArray, type PDFDocument, PDFName, type PDFPage, type PDFRef } from '@cantoo/pdf-lib';

/** The name the watermark has in a page's resources. */
const RESOURCE_NAME = PDFName.of('PlatenWatermark');

/**
 * Draws the first page of `watermarkPdf` over the content of every page: centred, upright for the reader whatever the
 * page's rotation, and as large as the page's diagonal, so that a square watermark covers the page at any angle.
 *
 * The watermark is in the file once, and so is each way of placing it. Readers of tagged documents skip it (ISO 32000-1,
 * 14.8.2.2: an artifact).
 */
export async function drawWatermark(document: PDFDocument, watermarkPdf: Uint8Array): Promise<void> {
  const [watermark] = await document.embedPdf(watermarkPdf, [0]);
  if (watermark === undefined) throw new Error('The watermark has no page.');
  await watermark.embed();
  // What a page does to the graphics state must not reach the watermark.
  const save = contentStream(document, 'q\n');
  const placements = new Map<string, PDFRef>();
  for (const page of document.getPages()) {
    const operators = `\nQ\n${placement(page, watermark.width, watermark.height)}`;
    let place = placements.get(operators);
    if (place === undefined) {
      place = contentStream(document, operators);
      placements.set(operators, place);
    }
    wrapContents(document, page, save, place);
    addToResources(page, watermark.ref);
  }
}

/** The operators that draw the watermark on this page. */
function placement(page: PDFPage, markWidth: number, markHeight: number): string {
  const { x, y, width, height } = page.getCropBox();
  const scale = Math.hypot(width, height) / Math.max(markWidth, markHeight);
  const turn = (page.getRotation().angle * Math.PI) / 180;
  const [cos, sin] = [scale * Math.cos(turn), scale * Math.sin(turn)];
  // The middle of the watermark, turned and scaled, lands on the middle of the page.
  const left = x + width / 2 - (cos * markWidth - sin * markHeight) / 2;
  const bottom = y + height / 2 - (sin * markWidth + cos * markHeight) / 2;
  const matrix = [cos, sin, -sin, cos, left, bottom].map((value) => value.toFixed(5)).join(' ');
  return `/Artifact <</Type /Pagination /Subtype /Watermark>> BDC\nq\n${matrix} cm\n${RESOURCE_NAME} Do\nQ\nEMC\n`;
}

function contentStream(document: PDFDocument, operators: string): PDFRef {
  return document.context.register(document.context.stream(operators));
}

function wrapContents(document: PDFDocument, page: PDFPage, before: PDFRef, after: PDFRef): void {
  const key = PDFName.of('Contents');
  const own = page.node.get(key);
  const resolved = document.context.lookup(own);
  const parts = resolved instanceof PDFArray ? resolved.asArray() : own === undefined ? [] : [own];
  page.node.set(key, document.context.obj([before, ...parts, after]));
}

/** Resources may be shared between pages or inherited; the entry is the same for all, so adding it twice is no harm. */
function addToResources(page: PDFPage, watermark: PDFRef): void {
  const { context } = page.doc;
  const key = PDFName.of('XObject');
  let resources = page.node.Resources();
  if (resources === undefined) {
    resources = context.obj({});
    page.node.set(PDFName.of('Resources'), resources);
  }
  const objects = resources.lookup(key);
  if (objects === undefined) resources.set(key, context.obj({ [RESOURCE_NAME.decodeText()]: watermark }));
  else (objects as typeof resources).set(RESOURCE_NAME, watermark);
}
