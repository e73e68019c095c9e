import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { PDFDocument } from '@cantoo/pdf-lib';
import { pageTreeCount } from '../../../src/render/pdf/count-pages.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import { readPdf } from '../../support/pdf.ts';
import { type Printer, pagesOfText, startPrinter } from './printed.ts';

/** How many bytes are read to find that there are so many pages. */
function bytesRead(pdf: Uint8Array, pages: number): number {
  const conversions = mock.method(Buffer.prototype, 'toString');
  try {
    assert.equal(pageTreeCount(pdf), pages);
    return conversions.mock.calls.reduce(
      (sum: number, { result }: { result?: string }) => sum + (result?.length ?? 0),
      0,
    );
  } finally {
    conversions.mock.restore();
  }
}

describe('Counting pages', () => {
  let printer: Printer;
  let finisher: PdfFinisher;
  before(async () => {
    printer = await startPrinter();
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => Promise.all([printer.close(), finisher.close()]));

  // Skia nests its page tree eight wide, so that the counts of 8 and 64 pages are where the tree grows a level.
  for (const count of [1, 2, 7, 8, 9, 16, 63, 64, 65, 130]) {
    for (const tagged of [false, true]) {
      it(`finds ${count} ${tagged ? 'tagged ' : ''}page(s) the short way, as pdf.js does`, async () => {
        const pdf = await printer.print(pagesOfText(count), { tagged, outline: tagged });
        assert.equal(pageTreeCount(pdf), count);
        assert.equal((await readPdf(pdf)).pages.length, count);
      });
    }
  }

  it('ignores structure in the text of the document', async () => {
    for (const lang of ['x /Pages 1 0 R', ') /Pages 1 0 R (', '\\', 'endobj (((', '(/Pages 1 0 R']) {
      const html = `<html lang="${lang}">${pagesOfText(3)}`;
      const pdf = await printer.print(html, { tagged: true });
      assert.equal(await finisher.countPages(pdf), 3, lang);
    }
  });

  it('works on a view into a larger buffer', async () => {
    const pdf = await printer.print(pagesOfText(3));
    const larger = new Uint8Array(pdf.length + 200);
    larger.set(pdf, 100);
    assert.equal(pageTreeCount(larger.subarray(100, 100 + pdf.length)), 3);
  });

  it('reads little of a large document', async () => {
    const pdf = await printer.print(pagesOfText(600));
    // Two objects without their streams, and what surrounds them.
    assert.ok(
      bytesRead(pdf, 600) < 150_000 && pdf.length > 300_000,
      `${bytesRead(pdf, 600)} of ${pdf.length}`,
    );
  });

  it('parses documents of other writers', async () => {
    const document = await PDFDocument.load(await printer.print(pagesOfText(5)), { updateMetadata: false });
    const compact = await document.save({ useObjectStreams: true });
    assert.equal(pageTreeCount(compact), undefined);
    assert.equal(await finisher.countPages(compact), 5);

    const updated = await PDFDocument.load(await printer.print(pagesOfText(4)), {
      forIncrementalUpdate: true,
    });
    updated.removePage(0);
    const incremental = await updated.save();
    assert.equal(await finisher.countPages(incremental), (await readPdf(incremental)).pages.length);
  });

  it('rejects what is no PDF', async () => {
    await assert.rejects(finisher.countPages(new TextEncoder().encode('no PDF at all')));
    await assert.rejects(finisher.countPages(new Uint8Array()));
  });
});
