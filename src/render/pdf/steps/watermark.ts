import { type PDFDocument, PDFName, type PDFPage, type PDFRef } from '@cantoo/pdf-lib';
import { addToResources, contentStream, wrapContents } from '../page-content.ts';

const RESOURCE_NAME = PDFName.of('PlatenWatermark');

/**
 * Draws the first page of `watermarkPdf` over the content of every page: centred, upright for the reader whatever the
 * page's rotation, and as large as the page's diagonal, so that a square watermark covers the page at any angle.
 *
 * The file contains the watermark once, and each placement once. Readers of tagged documents skip it (ISO 32000-1,
 * 14.8.2.2: an artifact).
 */
export default async function drawWatermark(document: PDFDocument, watermarkPdf: Uint8Array): Promise<void> {
  const [watermark] = await document.embedPdf(watermarkPdf, [0]);
  if (watermark === undefined) throw new Error('The watermark has no page.');
  await watermark.embed();
  // Changes of the graphics state by the page must not affect the watermark.
  const save = contentStream(document, 'q\n');
  const placements = new Map<string, PDFRef>();
  for (const page of document.getPages()) {
    const operators = `\nQ\n${placement(page, watermark.width, watermark.height)}`;
    let drawing = placements.get(operators);
    if (drawing === undefined) {
      drawing = contentStream(document, operators);
      placements.set(operators, drawing);
    }
    wrapContents(document, page, save, drawing);
    addToResources(page, RESOURCE_NAME, watermark.ref);
  }
}

/** The operators that draw the watermark on this page. */
function placement(page: PDFPage, markWidth: number, markHeight: number): string {
  const { x, y, width, height } = page.getCropBox();
  const scale = Math.hypot(width, height) / Math.max(markWidth, markHeight);
  const angle = (page.getRotation().angle * Math.PI) / 180;
  const [cos, sin] = [scale * Math.cos(angle), scale * Math.sin(angle)];
  // The centre of the watermark, rotated and scaled, is the centre of the page.
  const left = x + width / 2 - (cos * markWidth - sin * markHeight) / 2;
  const bottom = y + height / 2 - (sin * markWidth + cos * markHeight) / 2;
  const matrix = [cos, sin, -sin, cos, left, bottom].map((value) => value.toFixed(5)).join(' ');
  return `/Artifact <</Type /Pagination /Subtype /Watermark>> BDC\nq\n${matrix} cm\n${RESOURCE_NAME} Do\nQ\nEMC\n`;
}
