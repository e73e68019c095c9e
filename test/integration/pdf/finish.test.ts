import assert from 'node:assert/strict';
import { degrees, PDFDocument } from '@cantoo/pdf-lib';
import { finishSteps } from '../../../src/render/options/all/stages.ts';
import { pageTreeCount } from '../../../src/render/pdf/count-pages.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { FinishStep } from '../../../src/render/pdf/finish-step.ts';
import { type PixelBox, readPdf, renderPage } from '../../support/pdf.ts';
import { type Printer, pagesOfText, printWatermark, startPrinter } from './printed.ts';

const METADATA = {
  title: 'Tïtle 漢字 😀 <&>',
  author: 'Zoë',
  subject: '50 % "off"',
  creator: 'Shop',
  producer: 'Platen',
  keywords: ['one', 'zwei drei', '三'],
};
const describedAs = (argument: object): FinishStep => ({ step: 'metadata', argument });
const stampedWith = (argument: Uint8Array): FinishStep => ({ step: 'watermark', argument });
/** Half red over white. */
const STAMP_COLOUR = [255, 128, 128] as const;

describe('Finishing PDFs', () => {
  let printer: Printer;
  let finisher: PdfFinisher;
  let watermark: Uint8Array;
  const finish = async (...call: Parameters<PdfFinisher['finish']>) => (await finisher.finish(...call)).pdf;

  before(async () => {
    printer = await startPrinter();
    finisher = createPdfFinisher({ processes: 1 });
    watermark = await printWatermark(printer);
  });
  after(() => Promise.all([printer.close(), finisher.close()]));

  it('returns the same bytes when no step is needed', async () => {
    const pdf = await printer.print('<p>x');
    assert.equal(await finish(pdf, { steps: [] }), pdf);
    const printSheet = () => assert.fail('there is nothing to print');
    assert.deepEqual(await finishSteps({}, { printSheet }), []);
    assert.deepEqual(await finishSteps({ metadata: {} }, { printSheet }), []);
    assert.deepEqual(await finishSteps({ metadata: { title: '', keywords: [] } }, { printSheet }), []);
  });

  describe('metadata', () => {
    it('writes every field, in any script', async () => {
      const finished = await finish(await printer.print('<title>Old</title>x'), {
        steps: [describedAs(METADATA)],
      });
      assert.deepEqual((await readPdf(finished)).metadata, METADATA);
      assert.equal(pageTreeCount(finished), 1);
    });

    it('keeps the fields that are not given', async () => {
      const finished = await finish(await printer.print('<title>Stays</title>x'), {
        steps: [describedAs({ author: 'A', title: '' })],
      });
      const { metadata } = await readPdf(finished);
      assert.equal(metadata.title, 'Stays');
      assert.equal(metadata.author, 'A');
      assert.equal(metadata.creator, 'Chromium');
    });

    it('writes the same fields into XMP', async () => {
      const finished = await finish(await printer.print('x'), {
        steps: [describedAs({ ...METADATA, subject: 'bell\u0007' })],
      });
      const { xmp } = await readPdf(finished);
      assert.match(xmp ?? '', /<dc:creator><rdf:Seq><rdf:li>Zo&#xEB;<\/rdf:li>/);
      assert.match(xmp ?? '', /T&#xEF;tle &#x6F22;&#x5B57; &#x1F600; &#x3C;&#x26;&#x3E;/);
      assert.match(xmp ?? '', /<rdf:Bag><rdf:li>one<\/rdf:li><rdf:li>zwei drei<\/rdf:li>/);
      assert.match(xmp ?? '', /bell&#xFFFD;/);
    });
  });

  describe('watermark', () => {
    it('is centred over the content, which shows through it', async () => {
      const pdf = await printer.print('<body style="margin:0;background:#00f">');
      const finished = await finish(pdf, { steps: [stampedWith(watermark)] });
      const page = await renderPage(finished, 1);
      assert.deepEqual(page.at(10, 10), [0, 0, 255]);
      const [red, green, blue] = page.at(page.width / 2, page.height / 2);
      assert.ok(Math.abs(red - 128) < 4 && green < 4 && Math.abs(blue - 128) < 4, `${[red, green, blue]}`);
      assertCentred(page.boxOfColor([128, 0, 128])!, page.width, page.height);
    });

    it('is on every page of a long document, which grows by far less than a watermark a page', async () => {
      const detailed = await printWatermark(
        printer,
        '<text x="9" y="99" font-size="80" fill="none">Confidential ☃</text>',
      );
      const pdf = await printer.print(pagesOfText(50));
      const finished = await finish(pdf, { steps: [stampedWith(detailed)] });
      assert.equal(pageTreeCount(finished), 50);
      assert.equal((await readPdf(finished)).pages.length, 50);
      for (const number of [1, 25, 50]) {
        const page = await renderPage(finished, number, 0.5);
        assertCentred(page.boxOfColor(STAMP_COLOUR)!, page.width, page.height);
      }
      const growth = finished.length - pdf.length;
      assert.ok(
        growth < detailed.length + 50 * 200,
        `grew by ${growth}, the watermark has ${detailed.length}`,
      );
    });

    it('fits pages of any size in one document', async () => {
      const pdf = await printer.print(
        `<style>@page a { size: A3 landscape } @page b { size: 100mm 50mm } .a { page: a } .b { page: b }</style>
         <p class=a>wide<p class=b>small<p>plain`,
        { preferCSSPageSize: true },
      );
      const finished = await finish(pdf, { steps: [stampedWith(watermark)] });
      assert.equal((await readPdf(finished)).pages.length, 3);
      for (const number of [1, 2, 3]) {
        const page = await renderPage(finished, number);
        assertCentred(page.boxOfColor(STAMP_COLOUR)!, page.width, page.height);
      }
    });

    for (const angle of [90, 180, 270]) {
      it(`is upright on pages that are turned by ${angle} degrees, cropped or not`, async () => {
        // A mark above the middle tells up from down.
        const pointed = await printWatermark(
          printer,
          '<rect x="490" y="350" width="20" height="20" fill="#0f0"/>',
        );
        const document = await PDFDocument.load(await printer.print(pagesOfText(2)));
        for (const page of document.getPages()) page.setRotation(degrees(angle));
        document.getPage(1).setCropBox(100, 50, 300, 600);
        const finished = await finish(await document.save(), { steps: [stampedWith(pointed)] });
        for (const number of [1, 2]) {
          const page = await renderPage(finished, number);
          const square = page.boxOfColor(STAMP_COLOUR, 16)!;
          const mark = page.boxOfColor([0, 255, 0], 16)!;
          assertCentred(square, page.width, page.height);
          assert.ok(mark.bottom < square.top, 'the mark is above the square');
        }
      });
    }

    it('leaves links, outline, structure and text as they are', async () => {
      const pdf = await printer.print(
        '<html lang=en><h1 id=a>Head</h1><p>Text <a href="https://example.com/">out</a> <a href="#b">down</a><h2 id=b>Next</h2>',
        { tagged: true, outline: true },
      );
      const [before, after] = [
        await readPdf(pdf),
        await readPdf(await finish(pdf, { steps: [describedAs(METADATA), stampedWith(watermark)] })),
      ];
      assert.ok(before.tagged && before.outline.length > 0 && before.pages[0]!.links.length === 2);
      assert.deepEqual(
        { ...after, metadata: undefined, xmp: undefined },
        { ...before, metadata: undefined, xmp: undefined },
      );
    });
  });

  it('finishes 1,000 pages in its time', async () => {
    const pdf = await printer.print(pagesOfText(1000));
    const finished = await finish(pdf, { steps: [describedAs(METADATA), stampedWith(watermark)] });
    assert.equal(pageTreeCount(finished), 1000);
  });

  it('is stopped when its time is over or its caller has gone, and goes on with the next document', async () => {
    const pdf = await printer.print(pagesOfText(300));
    await assert.rejects(finisher.finish(pdf, { steps: [stampedWith(watermark)], timeoutMs: 1 }), {
      code: 'RENDER_TIMEOUT',
    });
    const reason = new Error('gone');
    await assert.rejects(
      finisher.finish(pdf, { steps: [stampedWith(watermark)], signal: AbortSignal.abort(reason) }),
      reason,
    );
    assert.equal(pageTreeCount(await finish(pdf, { steps: [describedAs(METADATA)] })), 300);
  });

  it('rejects what is no PDF, and everything once closed', async () => {
    const noPdf = new TextEncoder().encode('no PDF');
    await assert.rejects(finisher.finish(noPdf, { steps: [describedAs(METADATA)] }), {
      code: 'RENDER_FAILED',
    });
    const other = createPdfFinisher({ processes: 1 });
    await other.close();
    await assert.rejects(other.finish(noPdf, { steps: [describedAs(METADATA)] }), { code: 'WORKER_LOST' });
  });
});

function assertCentred(box: PixelBox, width: number, height: number): void {
  const side = Math.hypot(width, height) / 10;
  assert.ok(Math.abs((box.left + box.right + 1) / 2 - width / 2) <= 2, 'centred across');
  assert.ok(Math.abs((box.top + box.bottom + 1) / 2 - height / 2) <= 2, 'centred down');
  assert.ok(Math.abs(box.right - box.left + 1 - side) <= 3, `${box.right - box.left} wide, not ${side}`);
  assert.ok(Math.abs(box.bottom - box.top + 1 - side) <= 3, `${box.bottom - box.top} high, not ${side}`);
}
