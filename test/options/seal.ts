import assert from 'node:assert/strict';
import { opensslVerifies, sharedSealKeys, signatureOf } from '../support/seal-keys.ts';
import type { OptionCases, Printed } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const KEY = { keyId: 'invoices' };
const URL = { digestUrl: 'https://sign.example/seals?of=a' };
const HTML = '<title>beside others</title><h1>Contract</h1><p><a href="https://shop.example/a">terms</a>';

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
    [{ seal: { key: KEY, level: 'B-T' } }, 'seal', /must have timestampUrl with level B-T/],
    [
      { seal: { key: KEY, timestampUrl: 'http://tsa.example/' } },
      'seal',
      /must have timestampUrl with level B-T/,
    ],
    [
      { seal: { key: KEY, level: 'B-T', timestampUrl: 'ftp://tsa.example/' } },
      'seal.timestampUrl',
      /absolute http or https/,
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
  ],
};
