import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { PlatenError } from '../../src/infra/errors/registry.ts';
import { createPdfFinisher, type PdfFinisher } from '../../src/render/pdf/finish.ts';
import { fileOf, onePage, streamOf } from '../support/sent-pdf.ts';

const MIB = 1024 ** 2;
/** Memory of a small worker: one process of its finisher may take half of it. */
const MEMORY_BYTES = 1024 * MIB;
/** Milliseconds in which a hostile PDF may be converted. */
const TIMEOUT_MS = 4000;
const many = (count: number, object: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => object(i));
/** An array of arrays, each of which is a million. */
const arrays = (number: number) => `${number} 0 obj [${'[]'.repeat(4 * MIB)}] endobj`;

/** Each PDF, and how it may end: by one of these codes, or converted. */
const ATTACKS: readonly (readonly [what: string, pdf: () => Buffer, ends: readonly string[]])[] = [
  [
    'a stream of objects that is a gigabyte',
    () => fileOf([...onePage(), bomb(5, '/Type /ObjStm /N 9 /First 9')]),
    ['RENDER_TIMEOUT', 'DOCUMENT_LIMIT', 'PDF_INVALID'],
  ],
  [
    'a million empty objects',
    () => fileOf([...onePage(), ...many(MIB / 2, (i) => `${i + 9} 0 obj<<>>endobj`)]),
    ['RENDER_TIMEOUT', 'DOCUMENT_LIMIT', 'converted'],
  ],
  [
    'arrays that fill the heap',
    () => fileOf([...onePage({ catalog: '/X 9 0 R' }), arrays(9)]),
    ['RENDER_TIMEOUT', 'DOCUMENT_LIMIT', 'OUTPUT_TOO_LARGE'],
  ],
  [
    'a hundred thousand pages',
    () =>
      fileOf([
        '1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj',
        `2 0 obj <</Type /Pages /Kids [${many(20_000, (i) => `${i + 9} 0 R`).join(' ')}]>> endobj`,
        ...many(20_000, (i) => `${i + 9} 0 obj <</Type /Page /MediaBox [0 0 9 9]>> endobj`),
      ]),
    ['DOCUMENT_LIMIT', 'RENDER_TIMEOUT'],
  ],
  [
    'a page tree of two branches at each of 60 levels',
    () =>
      fileOf([
        '1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj',
        ...many(60, (i) => `${i + 2} 0 obj <</Type /Pages /Kids [${i + 3} 0 R ${i + 3} 0 R]>> endobj`),
        '62 0 obj <</Type /Page /MediaBox [0 0 9 9]>> endobj',
      ]),
    ['PDF_INVALID'],
  ],
  [
    'a length of a gigabyte',
    () => fileOf([...onePage({ page: '/Contents 4 0 R' }), streamOf(4, 'q Q', '', 1024 * MIB)]),
    ['converted'],
  ],
  [
    'a million objects that never end',
    () => fileOf([...onePage(), '9 0 obj ('.repeat(MIB)]),
    ['RENDER_TIMEOUT', 'DOCUMENT_LIMIT', 'PDF_INVALID'],
  ],
];

describe('A hostile PDF', () => {
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 2, memoryBytes: MEMORY_BYTES });
  });
  after(() => finisher.close());

  const outcome = async (pdf: Uint8Array, account: string, timeoutMs: number) => {
    try {
      await finisher.convert(pdf, { steps: [], maxBytes: 8 * MIB, account, timeoutMs });
      return { code: 'converted', permanent: true };
    } catch (error) {
      assert.ok(error instanceof PlatenError, String(error));
      return { code: error.code, permanent: error.permanent };
    }
  };

  for (const [what, pdf, ends] of ATTACKS)
    it(`of ${what} ends in its time, and its neighbours are converted meanwhile`, async () => {
      const attack = outcome(pdf(), 'attacker', TIMEOUT_MS);
      const mine = fileOf(onePage());
      for (let i = 0; i < 3; i += 1)
        assert.equal((await outcome(mine, 'neighbour', 60_000)).code, 'converted');
      const { code, permanent } = await attack;
      assert.ok(ends.includes(code), code);
      // Another attempt would take as long.
      if (code === 'RENDER_TIMEOUT') assert.ok(permanent);
    });
});

/** A gigabyte of spaces, deflated. */
function bomb(number: number, dictionary: string): Buffer {
  const chunk = Buffer.alloc(1024 * MIB, ' ');
  return streamOf(number, deflateSync(chunk), `${dictionary} /Filter /FlateDecode`);
}
