import assert from 'node:assert/strict';
import { PDFDocument, PDFName, PDFStream } from '@cantoo/pdf-lib';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { readStream } from '../../../src/render/pdf/conformance/content.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import { exampleXml } from '../../support/invoice.ts';
import { converted, sentFixture } from '../../support/sent-fixture.ts';
import { fileOf, onePage, streamOf } from '../../support/sent-pdf.ts';

const PDFA = 'http://www.aiim.org/pdfa/ns/id/';
const packet = (properties: string, before = '') =>
  `${before}<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ${properties}/></rdf:RDF></x:xmpmeta>`;
const CLAIMS_2B = `xmlns:a="${PDFA}" a:part="2" a:conformance="B"`;

/** The character of a reference of XML. */
const decoded = (reference: string) => {
  const digits = reference.slice(2, -1);
  return String.fromCodePoint(digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number(digits));
};

describe('A PDF that is validated', () => {
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => finisher.close());

  const described = (xmp: string, more: Parameters<typeof onePage>[0] = {}) =>
    fileOf([
      ...onePage({ ...more, catalog: `/Metadata 4 0 R ${more?.catalog ?? ''}` }),
      streamOf(4, xmp, '/Type /Metadata /Subtype /XML'),
    ]);
  const outcomes = async (pdf: Uint8Array) => {
    const { checks, ...found } = await finisher.validate(pdf);
    return { ...found, checks: Object.fromEntries(checks.map(({ check, ...rest }) => [check, rest])) };
  };

  it('holds where it is what it claims to be', async () => {
    const xml = exampleXml('en16931');
    const { bytes } = await converted(finisher, await sentFixture('weasyprint'), {
      einvoice: { profile: 'en16931', xml },
    });
    const { checks, ...found } = await outcomes(bytes);
    assert.deepEqual(
      Object.entries(checks).map(([check, { outcome }]) => [check, outcome]),
      [
        ['file', 'passed'],
        ['encryption', 'passed'],
        ['metadata', 'passed'],
        ['pdfa', 'passed'],
        ['pdfua', 'notClaimed'],
        ['einvoice', 'passed'],
        ['signatures', 'notClaimed'],
      ],
    );
    assert.deepEqual(found, {
      ...{ version: '1.7', pages: 1, encrypted: false, signatures: [], xml },
      claims: { pdfa: '3b', pdfua: null, einvoice: { level: 'EN 16931', fileName: 'factur-x.xml' } },
    });
  });

  it('claims no PDF/A any more after what that forbids, and keeps the rest of its packet', async () => {
    const file = { name: 'a.csv', type: 'text/csv', content: 'YTti' };
    for (const [pdfa, options, left] of [
      ['2b', { attachments: [file] }, null],
      ['3b', { attachments: [file] }, '3b'],
      ['3b', { watermark: { text: 'DRAFT' } }, null],
      ['2b', { seal: { key: { keyId: 'a' } } }, '2b'],
    ] as const) {
      const metadata = { title: 'Übergabe 漢字' };
      const sent = await converted(finisher, await sentFixture('reportlab'), {
        metadata,
        conformance: { pdfa },
      });
      const { bytes } = await converted(finisher, sent.bytes, options as RenderOptions);
      const { claims, checks } = await outcomes(bytes);
      assert.equal(claims.pdfa, left, JSON.stringify(options));
      assert.deepEqual(checks.metadata!.findings, []);
      const document = await PDFDocument.load(bytes, { updateMetadata: false });
      const packet = readStream(document.catalog.lookup(PDFName.of('Metadata'), PDFStream));
      const xmp = Buffer.from(packet, 'latin1')
        .toString()
        .replaceAll(/&#x?[\da-f]+;/gi, decoded);
      assert.ok(xmp.includes(metadata.title), xmp);
      assert.match(xmp, /^<\?xpacket begin=.*\?>\s*<x:xmpmeta.*<\?xpacket end="w"\?>\s*$/s);
    }
  });

  it('claims nothing where it says nothing', async () => {
    const { checks, claims } = await outcomes(await sentFixture('reportlab'));
    assert.deepEqual(claims, { pdfa: null, pdfua: null, einvoice: null });
    assert.equal(checks.pdfa!.outcome, 'notClaimed');
    assert.deepEqual(checks.metadata, {
      outcome: 'notClaimed',
      findings: ['the PDF has no XMP packet'],
    });
  });

  it('does not hold where it is less, and each reason is named', async () => {
    const font = '/Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Times-Roman>>>>>>';
    const file = fileOf([
      ...onePage({
        catalog: '/Metadata 4 0 R /OpenAction <</S /JavaScript /JS (a)>>',
        page: `/Contents 5 0 R ${font}`,
      }),
      streamOf(4, packet(CLAIMS_2B), '/Type /Metadata /Subtype /XML'),
      streamOf(5, 'BT /F1 9 Tf (a) Tj ET 1 0 0 rg'),
    ]);
    const { checks, claims } = await outcomes(file);
    assert.equal(claims.pdfa, '2b');
    assert.deepEqual(checks.pdfa, {
      outcome: 'failed',
      findings: [
        'the file has no ID',
        'it has colours of devices, and no output intent',
        'what had to be mended: actions (JavaScript) were removed',
        'the font Times-Roman on page 1 is not embedded',
      ],
    });
  });

  it('is told of in words where Platen has no rules for its claim', async () => {
    const file = described(
      packet(`xmlns:a="${PDFA}" a:part="4" xmlns:u="http://www.aiim.org/pdfua/ns/id/" u:part="2"`),
    );
    const { checks } = await outcomes(file);
    assert.deepEqual(checks.pdfa, {
      outcome: 'notChecked',
      findings: ['PDF/A-4 is not known here: parts 2 and 3 are'],
    });
    assert.equal(checks.pdfua!.outcome, 'notChecked');
  });

  it('claims PDF/UA without tags', async () => {
    const xmp = packet('xmlns:u="http://www.aiim.org/pdfua/ns/id/" u:part="1"');
    assert.deepEqual((await outcomes(described(xmp))).checks.pdfua, {
      outcome: 'failed',
      findings: ['it is not tagged'],
    });
  });

  it('has an XMP packet with entities, or one that is no XML', async () => {
    const laughs = `<!DOCTYPE x [<!ENTITY a "${'lol'.repeat(10)}">${'bcdefghij'
      .split('')
      .map((name, i) => `<!ENTITY ${name} "${`&${String.fromCharCode(97 + i)};`.repeat(10)}">`)
      .join('')}]>`;
    for (const [xmp, finding] of [
      [packet(CLAIMS_2B, laughs), 'the XMP packet has a document type or entities, which no XMP has'],
      ['<x:xmpmeta', 'the XMP packet is not well-formed XML'],
    ] as const) {
      const { checks, claims } = await outcomes(described(xmp));
      assert.deepEqual(checks.metadata, { outcome: 'failed', findings: [finding] });
      assert.equal(claims.pdfa, null);
    }
  });

  it('has a signature that says wrongly which bytes it is of, or one of another kind', async () => {
    const signed = (fields: string) =>
      fileOf([
        ...onePage({ catalog: '/AcroForm <</Fields [4 0 R]>>' }),
        `4 0 obj <</FT /Sig /T (a) /V 5 0 R>> endobj`,
        `5 0 obj <</Type /Sig /Contents <00> ${fields}>> endobj`,
      ]);
    const wrong = await outcomes(signed('/SubFilter /ETSI.CAdES.detached /ByteRange [0 10 20 999999]'));
    assert.deepEqual(wrong.checks.signatures, {
      outcome: 'failed',
      findings: ['signature 1 says wrongly which bytes it is of'],
    });
    const cut = await outcomes(signed('/SubFilter /ETSI.CAdES.detached /ByteRange [0 10 20 30]'));
    assert.deepEqual(cut.checks.signatures!.findings, ['signature 1 is not DER of a CMS']);
    const other = await outcomes(signed('/SubFilter /adbe.pkcs7.detached /ByteRange [0 10 20 30]'));
    assert.deepEqual(other.checks.signatures!.outcome, 'notChecked');
    assert.deepEqual(other.signatures, [
      {
        subFilter: 'adbe.pkcs7.detached',
        coversWholeFile: false,
        subject: null,
        fault: null,
        isChecked: false,
      },
    ]);
  });

  it('cannot be opened, and says so in one check', async () => {
    const { checks, ...found } = await outcomes(Buffer.from('<html>'));
    assert.deepEqual(checks.file, {
      outcome: 'failed',
      findings: ['The file is no PDF: it does not begin with %PDF-'],
    });
    assert.equal(checks.pdfa!.outcome, 'notChecked');
    assert.deepEqual([found.version, found.pages, found.encrypted], [null, null, false]);
    const encrypted = fileOf(onePage())
      .toString()
      .replace('/Root', '/Encrypt <</Filter /Standard /V 1>> /Root');
    const closed = await outcomes(Buffer.from(encrypted));
    assert.equal(closed.encrypted, true);
    assert.equal(closed.checks.encryption!.outcome, 'failed');
  });
});
