import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PDFDocument, PDFName, StandardFonts } from '@cantoo/pdf-lib';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { createPdfMerger, type PdfMerger } from '../../../src/render/pdf/merge.ts';
import { eventually } from '../../support/eventually.ts';
import { documentWithObjects, readPdf } from '../../support/pdf.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

/** A document with a line of text on each page, and a link from its first page to its last by name. */
async function documentOf(pages: readonly string[], useObjectStreams = true): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const [i, text] of pages.entries()) {
    document.addPage([300 + i, 200]).drawText(text, { x: 20, y: 100, size: 12, font });
  }
  const { context, catalog } = document;
  const [first, last] = [document.getPage(0), document.getPage(pages.length - 1)];
  catalog.set(PDFName.of('Dests'), context.obj({ end: [last.ref, 'Fit'] }));
  const link = { Type: 'Annot', Subtype: 'Link', Rect: [0, 0, 50, 50], Dest: 'end' };
  first.node.set(PDFName.of('Annots'), context.obj([context.obj(link)]));
  return Buffer.from(await document.save({ useObjectStreams }));
}

/** Fails unless every entry of the table leads to the object of its number. */
function assertTable(pdf: Buffer): void {
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf.toString('latin1', pdf.length - 100))![1]);
  const [, size] = /^xref\n0 (\d+)\n/.exec(pdf.toString('latin1', start, start + 30))!;
  const entries = start + `xref\n0 ${size}\n`.length;
  for (let number = 1; number < Number(size); number += 1) {
    const at = entries + number * 20;
    const offset = Number(pdf.toString('latin1', at, at + 10));
    const head = `${number} 0 obj\n`;
    assert.equal(pdf.toString('latin1', offset, offset + head.length), head);
  }
}

const MIB = 1024 * 1024;

describe('the merged PDF of a batch', () => {
  const api = useApi();
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
  });

  const merged = (id: string) => caller.get(`/v1/pdf/batch/${id}/pdf?merge=true`);

  async function ended(
    ids: readonly string[],
    optionsOf: (id: string) => object = () => ({}),
  ): Promise<string> {
    const items = ids.map((id) => ({ id, html: '<p>x</p>', options: optionsOf(id) }));
    const { jobId } = (await caller.post('/v1/pdf/batch', { items })).json;
    const isOver = async () => (await caller.get(`/v1/pdf/batch/${jobId}`)).json.finishedAt !== null;
    await eventually('it has ended', isOver);
    return jobId;
  }

  it('comes in parts of so many pages, and the list of them says which item is in which', async () => {
    api.worker.render = async ({ item }) => {
      if (item!.id === 'i-3') return { fails: new PlatenError('URL_UNREACHABLE') };
      // The last one alone has more pages than a part.
      const pages = item!.id === 'i-9' ? 130 : 30;
      return { pages, pdf: await documentOf(Array.from({ length: pages }, () => item!.id)) };
    };
    const ids = Array.from({ length: 10 }, (_, i) => `i-${i}`);
    const id = await ended(ids);
    const path = `/v1/pdf/batch/${id}/parts?pagesPerPart=100`;
    const { total, parts } = (await caller.get(path)).json;
    assert.deepEqual(
      [
        total,
        parts.map(({ items, pages, firstItemId, lastItemId, firstRow, lastRow }: Record<string, unknown>) => [
          ...[items, pages, firstItemId, lastItemId],
          ...[firstRow, lastRow],
        ]),
      ],
      [
        4,
        [
          [3, 90, 'i-0', 'i-2', 1, 3],
          [3, 90, 'i-4', 'i-6', 5, 7],
          [2, 60, 'i-7', 'i-8', 8, 9],
          [1, 130, 'i-9', 'i-9', 10, 10],
        ],
      ],
    );
    const texts: string[] = [];
    for (const { url, pages } of parts) {
      const pdf = await readPdf((await caller.get(url)).bytes);
      assert.equal(pdf.pages.length, pages);
      texts.push(...new Set(pdf.pages.map(({ text }) => text)));
    }
    assert.deepEqual(
      texts,
      ids.filter((each) => each !== 'i-3'),
    );
    assert.equal((await caller.get(`/v1/pdf/batch/${id}/pdf?part=5&pagesPerPart=100`)).status, 404);
    const second = (await caller.get(`${path}&limit=1&offset=1`)).json;
    assert.deepEqual([second.total, second.parts.length, second.parts[0].part], [4, 1, 2]);
  });

  it('has no parts before the end of the batch', async () => {
    api.worker.render = () => new Promise(() => undefined);
    const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
    const { jobId } = (await caller.post('/v1/pdf/batch', { items })).json;
    const refused = await caller.get(`/v1/pdf/batch/${jobId}/parts`);
    assert.deepEqual([refused.status, refused.json.code], [409, 'WRONG_STATE']);
  });

  it('has all completed items in order, with a bookmark for each', async () => {
    api.worker.render = async ({ item }) => {
      if (item!.id === 'Nr. 5 ü') return { fails: new PlatenError('URL_UNREACHABLE') };
      const pages = [`${item!.index} first`, `${item!.index} last`];
      return { pages: 2, pdf: await documentOf(pages, item!.index % 2 === 0) };
    };
    const ids = Array.from({ length: 140 }, (_, i) => `Nr. ${i} ü`);
    const id = await ended(ids);
    const response = await merged(id);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-service-merged-items'), '139');
    assert.equal(response.headers.get('x-service-merged-pending'), '0');
    assertTable(Buffer.from(response.bytes));
    const pdf = await readPdf(response.bytes);
    const expected = [...ids.keys()].filter((i) => i !== 5);
    assert.deepEqual(
      pdf.pages.map(({ text }) => text),
      expected.flatMap((i) => [`${i} first`, `${i} last`]),
    );
    assert.deepEqual(
      pdf.outline,
      expected.map((i) => `Nr. ${i} ü`),
    );
    assert.deepEqual(pdf.pages.map(({ width }) => width).slice(0, 4), [300, 301, 300, 301]);
    // A link by name, to its own document's last page.
    const text = Buffer.from(response.bytes).toString('latin1');
    for (const at of [0, 2, 100]) {
      const number = /^#\[\{"num":(\d+)/.exec(pdf.pages[at]!.links[0]!)![1];
      const target = text.slice(text.indexOf(`\n${number} 0 obj\n`)).split('endobj')[0]!;
      assert.match(target, /\/MediaBox \[ 0 0 301 200 \]/, 'its own last page');
      const parent = /\/Parent (\d+) 0 R/.exec(target)![1];
      assert.match(
        text.slice(text.indexOf(`\n${parent} 0 obj\n`)).split('endobj')[0]!,
        new RegExp(`\\b${number} 0 R\\]`),
      );
    }
  });

  it('is refused, and the zip is not, when the PDF of an item is protected', async () => {
    api.worker.render = async () => ({ pages: 1, pdf: await documentOf(['x']) });
    const protection = { permissions: { copy: false } };
    const id = await ended(['a', 'b', 'c'], (id) => (id === 'b' ? { protection } : {}));
    const { status, json } = await merged(id);
    assert.deepEqual([status, json.code], [409, 'NOT_MERGEABLE']);
    assert.equal(json.message, 'The PDF of the item "b" is protected, so it cannot be merged with others.');
    const zip = await caller.get(`/v1/pdf/batch/${id}/zip`);
    assert.deepEqual([zip.status, zip.headers.get('x-service-zip-items')], [200, '3']);
    api.worker.render = async ({ item }) =>
      item!.id === 'b'
        ? { fails: new PlatenError('URL_UNREACHABLE') }
        : { pages: 1, pdf: await documentOf(['x']) };
    const others = await ended(['a', 'b', 'c'], (id) => (id === 'b' ? { protection } : {}));
    assert.equal((await merged(others)).status, 200, 'the protected one has failed');
  });

  it('is not there without a completed item, and breaks off at one that is no PDF', async () => {
    api.worker.render = async () => ({ fails: new PlatenError('URL_UNREACHABLE') });
    assert.equal((await merged(await ended(['a', 'b']))).status, 404);
    api.worker.render = async ({ item }) => ({
      pages: 1,
      pdf: item!.id === 'b' ? Buffer.from('no PDF at all') : await documentOf(['x']),
    });
    await assert.rejects(merged(await ended(['a', 'b', 'c'])), /terminated/);
    const other = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
    const good = await ended(['a', 'b']);
    assert.equal((await other.get(`/v1/pdf/batch/${good}/pdf`)).status, 404);
    assert.equal((await merged(good)).status, 200, 'the next one goes well');
  });
});

describe('a merger of PDFs', () => {
  let merger: PdfMerger;
  before(() => {
    merger = createPdfMerger({ memoryBytes: 4096 * MIB });
  });
  after(() => merger.close());

  it('reads no further ahead than it is read, and stops when its signal aborts', async () => {
    const pdf = await documentOf(['x', 'y']);
    let reads = 0;
    const sources = Array.from({ length: 200 }, (_, i) => ({
      title: String(i),
      bytes: pdf.length,
      async read() {
        reads += 1;
        return pdf;
      },
    }));
    const stop = new AbortController();
    const terms = { account: 'a', signal: stop.signal };
    const stream = merger.merge(sources, terms);
    for await (const _ of stream) if (reads === 3) break;
    await sleep(200);
    assert.equal(reads, 3);
    const stopped = merger.merge(sources, terms);
    stop.abort(new Error('nobody wants it'));
    await assert.rejects(buffer(stopped), /nobody wants it/);
    assert.ok(reads <= 4);
  });

  it('keeps no account waiting for the documents of another that take long', async () => {
    const [slow, quick] = [documentWithObjects(500_000), await documentOf(['x'])];
    let slowRead = 0;
    const sourcesOf = (pdf: Buffer, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        title: `${i}`,
        bytes: pdf.length,
        async read() {
          if (pdf === slow) slowRead += 1;
          return pdf;
        },
      }));
    const stop = new AbortController();
    const signal = stop.signal;
    const attackers = ['a', 'b', 'c'];
    let over = 0;
    const attacks = attackers.map((account) =>
      buffer(merger.merge(sourcesOf(slow, 20), { account, signal })).then(
        () => {
          over += 1;
        },
        () => undefined,
      ),
    );
    try {
      await eventually('all of them are at it', () => slowRead >= attackers.length);
      const before = slowRead;
      await buffer(merger.merge(sourcesOf(quick, 8), { account: 'q', signal }));
      assert.equal(over, 0, 'the others are at it all the while');
      // First come, first served, each of the eight would wait for one of each of the others.
      const meanwhile = slowRead - before;
      assert.ok(meanwhile <= 4 * attackers.length, `${meanwhile} slow documents were taken meanwhile`);
    } finally {
      stop.abort();
      await Promise.all(attacks);
    }
  });

  it('holds bounded bytes of all documents, and breaks off the merge of the account that holds most for the sake of others', async () => {
    const document = await PDFDocument.create();
    const picture = document.context.register(document.context.stream(randomBytes(500_000)));
    document.addPage().node.addContentStream(picture);
    const pdf = await document.save();
    const read = async () => pdf;
    const large = Array.from({ length: 3 }, () => ({ title: 'large', bytes: 100 * MIB, read }));
    const { signal } = new AbortController();
    const merge = (account: string) => merger.merge(large, { account, signal });
    const errors: unknown[] = [];
    /** A merge of which nobody takes more than what stands before the first document. */
    const stalled = () => {
      const stream = merge('a').on('error', (error) => errors.push(error));
      return stream.once('readable', () => void stream.read());
    };
    const streams = [stalled(), stalled()];
    await eventually('both hold a document', () =>
      streams.every((stream) => stream.readableLength > 500_000),
    );
    assert.ok((await buffer(merge('b'))).length > 1_500_000);
    assert.deepEqual(
      errors.map((error) => (error as PlatenError).code),
      ['UNAVAILABLE'],
    );
    assert.equal(streams.filter(({ destroyed }) => destroyed).length, 1);
    assert.ok((await buffer(merge('a'))).length > 1_500_000, 'what the other one held is free');
    for (const stream of streams) stream.destroy();
  });
});
