import assert from 'node:assert/strict';
import { PDFDocument } from '@cantoo/pdf-lib';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { FinishStep } from '../../../src/render/pdf/finish-step.ts';
import { readPdf } from '../../support/pdf.ts';
import { fileOf, onePage, streamOf } from '../../support/sent-pdf.ts';

const MAX_BYTES = 10_000_000;
const PAGE = '3 0 obj <</Type /Page /MediaBox [0 0 9 9]>> endobj';
const CATALOG = '1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj';
const kids = (list: string) => `2 0 obj <</Type /Pages /Kids [${list}] /Count 7>> endobj`;

describe('A PDF that is sent', () => {
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => finisher.close());
  const convert = (pdf: Uint8Array, steps: readonly FinishStep[] = [], maxBytes = MAX_BYTES) =>
    finisher.convert(pdf, { steps, maxBytes });

  async function refusal(pdf: Uint8Array, ...more: [steps?: readonly FinishStep[], maxBytes?: number]) {
    const error = await convert(pdf, ...more).then(
      () => assert.fail('it was converted'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PlatenError, String(error));
    return [error.code, error.message];
  }

  async function withPages(count: number, options: { useObjectStreams?: boolean } = {}) {
    const document = await PDFDocument.create();
    for (let page = 1; page <= count; page += 1) document.addPage([300, 400]).drawText(`Page ${page}`);
    return await document.save(options);
  }

  for (const useObjectStreams of [true, false])
    it(`keeps its pages, read ${useObjectStreams ? 'from streams of objects' : 'as objects'}`, async () => {
      const { pdf, pages } = await convert(await withPages(3, { useObjectStreams }));
      const read = await readPdf(pdf);
      assert.equal(pages, 3);
      assert.equal(read.text, 'Page 1\nPage 2\nPage 3');
      // Nothing of the file's own structure is left.
      assert.doesNotMatch(Buffer.from(pdf).toString('latin1'), /ObjStm|XRef\b/);
    });

  it('loses what was deleted from it', async () => {
    const file = fileOf([...onePage(), '4 0 obj (a deleted secret) endobj']);
    const { pdf } = await convert(file);
    assert.ok(!Buffer.from(pdf).includes('secret'));
  });

  it('has its page tree mended: types, counts and parents', async () => {
    const { pdf, pages } = await convert(
      fileOf([CATALOG, kids('3 0 R 4 0 R'), PAGE, '4 0 obj <</MediaBox [0 0 9 9] /Parent 3 0 R>> endobj']),
    );
    assert.equal(pages, 2);
    assert.equal((await readPdf(pdf)).pages.length, 2);
  });

  for (const [what, file, code, message] of [
    ['is no PDF', Buffer.from('<html>'), 'PDF_INVALID', 'The file is no PDF: it does not begin with %PDF-.'],
    [
      'is cut off',
      fileOf(onePage()).subarray(0, 100),
      'PDF_INVALID',
      'The PDF is cut off: it does not end with startxref and %%EOF.',
    ],
    ['has no catalog', fileOf([]), 'PDF_INVALID', 'The PDF cannot be read: it has no catalog.'],
    ['has no pages', fileOf([CATALOG, kids('')]), 'PDF_INVALID', 'The PDF cannot be read: it has no pages.'],
    [
      'has a cycle in its page tree',
      fileOf([CATALOG, kids('2 0 R')]),
      'PDF_INVALID',
      'The PDF cannot be read: its page tree has object 2 in two places.',
    ],
    [
      'has a page twice',
      fileOf([CATALOG, kids('3 0 R 3 0 R'), PAGE]),
      'PDF_INVALID',
      'The PDF cannot be read: its page tree has object 3 in two places.',
    ],
    [
      'has lost a page',
      fileOf([CATALOG, kids('3 0 R 9 0 R'), PAGE]),
      'PDF_INVALID',
      'The PDF cannot be read: its page tree leads to object 9, which is no page.',
    ],
    [
      'has lost the content of a page',
      fileOf(onePage({ page: '/Contents [9 0 R]' })),
      'PDF_INVALID',
      'The PDF cannot be read: the content of a page (object 3) is missing.',
    ],
    [
      'has a broken stream of objects',
      fileOf([...onePage(), streamOf(5, 'x y z', '/Type /ObjStm /N 2 /First 4')]),
      'PDF_INVALID',
      'The PDF cannot be read: its object 5 is broken.',
    ],
    [
      'is nested too deeply',
      fileOf([...onePage({ catalog: '/X 4 0 R' }), `4 0 obj ${'['.repeat(100_000)} endobj`]),
      'PDF_INVALID',
      'The PDF cannot be read: its object 4 is broken.',
    ],
    [
      'is encrypted',
      Buffer.from(fileOf(onePage()).toString().replace('/Root', '/Encrypt <</Filter /Standard /V 1>> /Root')),
      'PDF_ENCRYPTED',
      'The PDF is encrypted: send it as it is without its encryption.',
    ],
    [
      'is signed',
      fileOf([
        ...onePage({ catalog: '/AcroForm <</Fields [4 0 R]>>' }),
        '4 0 obj <</FT /Sig /T (a) /V <</Type /Sig /ByteRange [0 1 2 3] /Contents <00>>>>> endobj',
      ]),
      'PDF_SIGNED',
      'The PDF is signed: any change would make its signature invalid.',
    ],
  ] as const) {
    it(`is refused when it ${what}`, async () => {
      assert.deepEqual(await refusal(file), [code, message]);
    });
  }

  it('is refused where what a step works on is broken', async () => {
    const file = fileOf(onePage({ catalog: '/Names 7' }));
    const [code, message] = await refusal(file, [{ step: 'attachments', argument: [] }]);
    assert.equal(code, 'PDF_INVALID');
    assert.match(message!, /^The PDF cannot be read: Expected instance of PDFDict/);
  });

  it('is refused when it becomes larger than the plan allows', async () => {
    assert.deepEqual(await refusal(fileOf(onePage()), [], 100), [
      'OUTPUT_TOO_LARGE',
      'The converted PDF has 344 bytes, and the plan allows 100.',
    ]);
  });
});
