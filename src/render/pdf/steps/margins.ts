import { type PDFDocument, PDFName, PDFDocument as PdfFile } from '@cantoo/pdf-lib';
import { addToResources, contentStream, wrapContents } from '../page-content.ts';

/** The margins of some pages, each printed alone on a page of the same size. */
export interface MarginSheet {
  readonly pdf: Uint8Array;
  /** Index of the page for the sheet's first page; the others follow. */
  readonly firstPage: number;
}

/** Draws the margins over the pages. Readers of tagged documents skip them (ISO 32000-1, 14.8.2.2: artifacts). */
export default async function drawMargins(
  document: PDFDocument,
  sheets: readonly MarginSheet[],
): Promise<void> {
  const save = contentStream(document, 'q\n');
  const pages = document.getPages();
  for (const { pdf, firstPage } of sheets) {
    const sheet = await PdfFile.load(pdf, { updateMetadata: false });
    const margins = await document.embedPdf(sheet, sheet.getPageIndices());
    for (const [i, margin] of margins.entries()) {
      const page = pages[firstPage + i];
      if (page === undefined) continue;
      await margin.embed();
      // Pages may share resources, so each page has a name of its own.
      const name = PDFName.of(`PlatenMargin${firstPage + i}`);
      const { x, y } = page.getMediaBox();
      const draw = `\nQ\n/Artifact <</Type /Pagination>> BDC\nq\n1 0 0 1 ${x} ${y} cm\n${name} Do\nQ\nEMC\n`;
      wrapContents(document, page, save, contentStream(document, draw));
      addToResources(page, name, margin.ref);
    }
  }
}
