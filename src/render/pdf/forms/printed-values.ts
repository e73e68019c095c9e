import { PDFDocument, type PDFRef } from '@cantoo/pdf-lib';
import type { Place } from './markers.ts';

/** Values that Chromium has drawn, on pages like those of a document. */
export class PrintedValues {
  readonly #document: PDFDocument;
  readonly #sheet: PDFDocument;
  readonly #pages = new Map<number, PDFRef>();

  private constructor(document: PDFDocument, sheet: PDFDocument) {
    this.#document = document;
    this.#sheet = sheet;
  }

  static async open(document: PDFDocument, pdf: Uint8Array): Promise<PrintedValues> {
    return new PrintedValues(document, await PDFDocument.load(pdf, { updateMetadata: false }));
  }

  /** What is drawn in a place, as an object of the document and the operators that draw it; undefined for a page too many. */
  async at(place: Place): Promise<{ readonly object: PDFRef; readonly operators: string } | undefined> {
    const index = this.#document.getPages().findIndex(({ ref }) => ref === place.page.ref);
    if (index >= this.#sheet.getPageCount()) return undefined;
    let object = this.#pages.get(index);
    if (object === undefined) {
      const [page] = await this.#document.embedPdf(this.#sheet, [index]);
      await page!.embed();
      object = page!.ref;
      this.#pages.set(index, object);
    }
    return { object, operators: `/Tx BMC\nq\n1 0 0 1 ${-place.x} ${-place.y} cm\n/Values Do\nQ\nEMC` };
  }
}
