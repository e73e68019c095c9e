import assert from 'node:assert/strict';
import { PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import { opensslVerifies, sharedSealKeys, signatureOf } from '../support/seal-keys.ts';
import { type OptionCases, type Printed, RED, SITE } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const KEY = { keyId: 'invoices' };
const URL = { digestUrl: 'https://sign.example/seals?of=a' };
const HTML = '<title>beside others</title><h1>Contract</h1><p><a href="https://shop.example/a">terms</a>';

const RECT = { left: '20mm', top: '30mm', width: '80mm', height: '20mm' };
/** A picture of one pixel, which is red. */
const PIXEL = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" preserveAspectRatio="none"><path fill="red" d="M0 0h1v1H0z"/></svg>')}`;

/** Valid for openssl, and sound for qpdf, pdf.js and PDFium. */
async function requireSealed(printed: Printed): Promise<void> {
  const { authority } = await sharedSealKeys();
  await opensslVerifies(printed.bytes, authority);
  const { problems } = await readByOthers(printed);
  assert.deepEqual(problems, []);
  assert.match(printed.text, /Contract/);
}

export const cases: OptionCases = {
  accepted: [
    { key: KEY },
    { key: URL, level: 'B-B' },
    { key: URL, level: 'B-T', timestampUrl: 'http://tsa.example/tsr' },
    { key: KEY, level: 'B-LT', timestampUrl: 'https://tsa.example/' },
    { key: KEY, visible: { page: 1, rect: RECT } },
    {
      key: KEY,
      visible: {
        ...{ page: -10_000, name: 'é'.repeat(255), html: 'x'.repeat(256 * 1024) },
        rect: { left: '0mm', top: '0', width: '5mm', height: '5mm' },
      },
    },
    { key: { keyId: 'a.b-c_9'.padEnd(63, 'x') }, reason: 'é'.repeat(255), location: 'x' },
  ],
  refused: [
    [{ seal: {} }, 'seal.key', /required|object/],
    [{ seal: { key: {} } }, 'seal.key', /either digestUrl or keyId, such as/],
    [{ seal: { key: { ...KEY, ...URL } } }, 'seal.key', /either digestUrl or keyId, such as/],
    [{ seal: { key: { keyId: '../a' } } }, 'seal.key.keyId', /must be the name of a key/],
    [{ seal: { key: { keyId: 'x'.repeat(64) } } }, 'seal.key.keyId', /at most 63 characters/],
    [{ seal: { key: { digestUrl: 'http://sign.example/' } } }, 'seal.key.digestUrl', /absolute https/],
    [{ seal: { key: { digestUrl: 'https://a:b@sign.example/' } } }, 'seal.key.digestUrl', /user name/],
    [{ seal: { key: { digestUrl: `https://a.b/${'x'.repeat(2048)}` } } }, 'seal.key.digestUrl', /at most/],
    [{ seal: { key: { pkcs11: 'x' } } }, 'seal.key.pkcs11', /is not known/],
    [{ seal: { key: KEY, reason: '' } }, 'seal.reason', /at least 1 character/],
    [{ seal: { key: KEY, reason: 'a\nb' } }, 'seal.reason', /without U\+000A/],
    [{ seal: { key: KEY, location: 'x'.repeat(256) } }, 'seal.location', /at most 255/],
    [{ seal: { key: KEY, level: 'B-LTA' } }, 'seal.level', /B-B/],
    [{ seal: { key: KEY, level: 'B-LT' } }, 'seal', /must have timestampUrl with levels/],
    [{ seal: { key: KEY, level: 'B-T' } }, 'seal', /must have timestampUrl with levels B-T and B-LT/],
    [
      { seal: { key: KEY, timestampUrl: 'http://tsa.example/' } },
      'seal',
      /must have timestampUrl with levels B-T and B-LT/,
    ],
    [
      { seal: { key: KEY, level: 'B-T', timestampUrl: 'ftp://tsa.example/' } },
      'seal.timestampUrl',
      /absolute http or https/,
    ],
    [{ seal: { key: KEY, visible: { rect: RECT } } }, 'seal.visible.page', /required|number|int/i],
    [
      { seal: { key: KEY, visible: { page: 0, rect: RECT } } },
      'seal.visible.page',
      /or -1 for the last page/,
    ],
    [{ seal: { key: KEY, visible: { page: 1.5, rect: RECT } } }, 'seal.visible.page', /int/],
    [{ seal: { key: KEY, visible: { page: 10_001, rect: RECT } } }, 'seal.visible.page', /10,?000/],
    [
      { seal: { key: KEY, visible: { page: 1, rect: { ...RECT, width: '4mm' } } } },
      'seal.visible.rect.width',
      /at least 5mm/,
    ],
    [
      { seal: { key: KEY, visible: { page: 1, rect: { ...RECT, top: '-1mm' } } } },
      'seal.visible.rect.top',
      /must be a length/,
    ],
    [
      { seal: { key: KEY, visible: { page: 1, rect: RECT, html: '<IFrame src=x>' } } },
      'seal.visible.html',
      /must not have the elements .*iframe/,
    ],
    [
      { seal: { key: KEY, visible: { page: 1, rect: RECT, html: 'x'.repeat(256 * 1024 + 1) } } },
      'seal.visible.html',
      /at most/,
    ],
    [{ seal: { key: KEY }, protection: { userPassword: 'x' } }, 'seal', /must not be given with protection/],
  ],
  effects: [
    {
      title: 'all bytes of the PDF are signed, with a reason and a place',
      html: HTML,
      options: { seal: { key: KEY, reason: 'Binding (ü)', location: 'Graz' } },
      proof: requireSealed,
    },
    {
      title: 'what other options do to the PDF is sealed with it',
      html: HTML,
      options: { seal: { key: KEY } },
      others: {
        attachments: [{ name: 'terms.csv', content: Buffer.from('a;b').toString('base64') }],
        watermark: { text: 'COPY' },
        metadata: { title: 'beside others' },
        tagged: true,
      },
      proof: async (printed) => {
        await requireSealed(printed);
        const { signed } = signatureOf(printed.bytes);
        assert.ok(signed.length > printed.bytes.length - 50_000);
      },
    },
    {
      title: 'it is drawn on its page as HTML says, which loads nothing but what it has',
      html: `${HTML}<p style="break-before: page">second`,
      options: {
        seal: {
          key: KEY,
          visible: {
            ...{ page: -1, rect: RECT },
            html: `<img src="${PIXEL}" width=100% height=100%><img src="${SITE}/echo.svg" style="position: absolute; inset: 0; width: 50%; height: 100%"><script>document.body.remove()</script>`,
          },
        },
      },
      proof: async (printed) => {
        await requireSealed(printed);
        const [first, second] = [await printed.draw(1), await printed.draw(2)];
        const at = (...mm: [number, number]) => mm.map((one) => Math.round((one / 25.4) * 72)) as typeof mm;
        for (const place of [at(30, 35), at(90, 45)]) {
          assert.deepEqual(second.at(...place), RED);
          assert.notDeepEqual(first.at(...place), RED);
        }
        assert.notDeepEqual(second.at(...at(15, 35)), RED);
      },
    },
    {
      title: 'it is drawn with name, reason, place and time, which those hear who do not see it',
      html: HTML,
      options: {
        tagged: true,
        seal: { key: KEY, reason: 'Binding', visible: { page: 1, rect: RECT, name: 'Ada <Lovelace>' } },
      },
      proof: async (printed) => {
        await requireSealed(printed);
        const document = await PDFDocument.load(printed.bytes);
        const field = document.getForm().getField('Seal').acroField.dict;
        const text = field.lookup(PDFName.of('TU'), PDFHexString).decodeText();
        assert.match(text, /^Ada <Lovelace>, Binding, 20\d\d-\d\d-\d\d \d\d:\d\d UTC$/);
      },
    },
  ],
  failures: [
    {
      title: 'it is on a page that the document has not',
      html: HTML,
      options: { seal: { key: KEY, visible: { page: 2, rect: RECT } } },
      code: 'SEAL_FAILED',
      message: /^The document has 1 page, and seal\.visible\.page is 2\.$/,
    },
    {
      title: 'it reaches beyond its page',
      html: HTML,
      options: { format: 'A5', seal: { key: KEY, visible: { page: -1, rect: { ...RECT, left: '70mm' } } } },
      code: 'SEAL_FAILED',
      message: /rect reaches beyond its page, which is 148 mm wide and 210 mm high/,
    },
  ],
};
