import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import { converted, sentFixture } from '../../support/sent-fixture.ts';
import { fileOf, onePage, streamOf } from '../../support/sent-pdf.ts';

describe('A PDF that is to be archived', () => {
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => finisher.close());

  const archived = (pdf: Uint8Array, pdfa: '2b' | '3b' = '3b') =>
    converted(finisher, pdf, { conformance: { pdfa }, report: true });
  async function refusal(pdf: Uint8Array, pdfa?: '2b' | '3b') {
    const error = await archived(pdf, pdfa).then(
      () => assert.fail('it was converted'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PlatenError, String(error));
    assert.equal(error.code, 'CONFORMANCE_FAILED', error.message);
    return error.message;
  }
  const annotation = (fields: string) =>
    fileOf([
      ...onePage({ page: '/Annots [4 0 R]' }),
      `4 0 obj <</Type /Annot /Rect [0 0 9 9] ${fields}>> endobj`,
    ]);
  const drawing = (content: string, page = '') =>
    fileOf([...onePage({ page: `/Contents 4 0 R ${page}` }), streamOf(4, content)]);
  const HELVETICA = '/Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>';

  for (const [what, file, message, pdfa] of [
    ['a font is not embedded', 'reportlab-helvetica', 'the font Helvetica on page 1 is not embedded'],
    [
      'colours are of CMYK',
      'reportlab-cmyk',
      'it has colours of CMYK on page 1, and no output intent that says what they mean',
    ],
    ['a note has no appearance', 'fpdf2', 'it has an annotation on page 1 without an appearance (Text)'],
    [
      'a file is attached, to PDF/A-2',
      'fpdf2-file',
      'it has files attached, which PDF/A-2 takes of no other type than PDF/A: ask for 3b',
      '2b',
    ],
  ] as const)
    it(`is refused when ${what}`, async () => {
      const level = pdfa ?? '3b';
      assert.equal(
        await refusal(await sentFixture(file), level),
        `The PDF cannot be PDF/A-${level}: ${message}.`,
      );
    });

  it('is refused for every fault at once, also for those of inline pictures and of what plays', async () => {
    const file = fileOf([
      ...onePage({ page: `/Contents 4 0 R /Annots [5 0 R] ${HELVETICA}` }),
      streamOf(4, 'BI /W 1 /H 1 /BPC 8 /CS /CMYK ID \x00\x00\x00\x00 EI\nBT /F1 9 Tf (a \\) Tj) Tj ET'),
      '5 0 obj <</Type /Annot /Subtype /Movie /Rect [0 0 9 9]>> endobj',
    ]);
    assert.equal(
      await refusal(file),
      'The PDF cannot be PDF/A-3b: it has an annotation on page 1 that plays something (Movie); the font Helvetica on page 1 is not embedded; it has colours of CMYK on page 1, and no output intent that says what they mean.',
    );
  });

  it('may name a font that shows nothing, and a text that looks like an operator', async () => {
    const { pages } = await archived(drawing('BT /F1 9 Tf ET q % k\n Q /k gs', HELVETICA));
    assert.equal(pages, 1);
  });

  for (const [what, file, warning, gone] of [
    [
      'JavaScript',
      fileOf(
        onePage({
          catalog:
            '/Names <</JavaScript <</Names [(a) <</S /JavaScript /JS (app.alert)>>]>>>> /OpenAction <</S /JavaScript /JS (b)>>',
        }),
      ),
      'scripts were removed',
      /JavaScript/,
    ],
    [
      'actions that run by themselves',
      fileOf(onePage({ page: '/AA <</O <</S /Launch /F (a)>>>>' })),
      'actions that run by themselves were removed',
      /Launch/,
    ],
    [
      'actions of links',
      annotation('/Subtype /Link /F 4 /A <</S /Launch /F (a.exe)>>'),
      'actions (Launch) were removed',
      /Launch/,
    ],
    [
      'hidden notes',
      annotation('/Subtype /Text /F 2 /Contents (secret)'),
      'annotations that are hidden were removed',
      undefined,
    ],
    [
      'compression by LZW',
      fileOf([
        ...onePage({ page: '/Contents 4 0 R' }),
        // `q Q` in codes of nine bits.
        streamOf(4, Buffer.from([0x80, 0x1c, 0x48, 0x02, 0x88, 0x08, 0x08]), '/Filter /LZWDecode'),
      ]),
      'streams were compressed in another way (LZW)',
      /LZW/,
    ],
  ] as const)
    it(`loses ${what}, and its report says so`, async () => {
      const { bytes, findings } = await archived(file);
      assert.ok(findings!.sourceWarnings.includes(warning), findings!.sourceWarnings.join('; '));
      if (gone !== undefined) assert.doesNotMatch(Buffer.from(bytes).toString('latin1'), gone);
    });

  it('is refused when a page draws more than is read', async () => {
    const bomb = deflateSync(Buffer.alloc(65 * 1024 ** 2, ' '));
    const file = fileOf([...onePage({ page: '/Contents 4 0 R' }), streamOf(4, bomb, '/Filter /FlateDecode')]);
    await assert.rejects(archived(file), {
      code: 'DOCUMENT_LIMIT',
      message: 'The PDF has a stream of more than 64 MiB: split its pages.',
    });
  });
});
