import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import { createPdfFinisher, type PdfFinisher } from '../../src/render/pdf/finish.ts';
import { createPdfMerger } from '../../src/render/pdf/merge.ts';
import { type Bench, render, startBench } from '../integration/chromium/support.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { converted } from '../support/sent-fixture.ts';
import { Sealer } from './support/sealer.ts';
import { type Judged, violations } from './support/verapdf.ts';

/** The document to copy of the guide, in short: every kind of field, with letters that the font of fields has not. */
const FORM = `<!doctype html><html lang="en"><title>Order</title><h1>Order</h1>
  <p><label>Name <input name="name" required value="Łukasz 漢字"></label>
  <p><label>Date <input name="date" type="date"></label>
  <p><label>Colour <select name="colour"><option value="r">Red<option value="b">Blue</select></label>
  <p><label>Extras <select name="extras" multiple size="2"><option value="x">X<option value="y">Y</select></label>
  <fieldset><legend>Delivery</legend>
  <label><input type="radio" name="delivery" value="post" checked> By post</label>
  <label><input type="radio" name="delivery" value="shop"> In the shop</label></fieldset>
  <p><label><input type="checkbox" name="gift"> It is a gift</label>
  <p><label>Remarks <textarea name="remarks" rows="3">Ring twice.</textarea></label>`;
const VALUES = {
  name: 'Ada',
  date: '2026-11-29',
  colour: 'b',
  extras: ['x', 'y'],
  delivery: 'shop',
  gift: true,
};
const CONFORMS: RenderOptions = { forms: true, conformance: { pdfa: '2a', pdfua: true } };

describe('Forms that conform', function () {
  this.timeout(4 * HUNG_MS);
  let bench: Bench;
  let finisher: PdfFinisher;
  before(async () => {
    bench = await startBench();
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => Promise.all([bench?.close(), finisher?.close()]));

  const printed = async (options: RenderOptions = {}) =>
    (await render(bench, FORM, { ...CONFORMS, ...options })).bytes;
  const changed = async (pdf: Uint8Array, fill: RenderOptions['fill']) =>
    (await converted(finisher, pdf, { fill })).bytes;

  async function merged(pdfs: readonly Uint8Array[]): Promise<Uint8Array> {
    const merger = createPdfMerger({ memoryBytes: 1024 ** 3 });
    const sources = pdfs.map((bytes, i) => ({ title: `${i}`, bytes: bytes.length, read: async () => bytes }));
    try {
      const { signal } = new AbortController();
      return await buffer(merger.merge(sources, { account: 'a', signal }));
    } finally {
      await merger.close();
    }
  }

  async function sealed(pdf: Uint8Array): Promise<Uint8Array> {
    const sealer = await Sealer.open();
    try {
      return await sealer.seal(pdf, 'form');
    } finally {
      await sealer.close();
    }
  }

  it('still do when they are filled in, flattened, merged and sealed', async () => {
    const form = await printed();
    const filled = await changed(form, { values: VALUES });
    const made: [name: string, bytes: Uint8Array, fields: number][] = [
      ['form', form, 7],
      ['filled', filled, 7],
      ['flattened', await changed(filled, { flatten: true }), 0],
      ['merged', await merged([form, filled]), 14],
      ['sealed', await sealed(await printed({ seal: Sealer.VISIBLE })), 8],
    ];
    const judged: Judged[] = [];
    for (const [name, bytes, fields] of made) {
      const document = await PDFDocument.load(bytes, { updateMetadata: false });
      assert.equal(document.getForm().getFields().length, fields, name);
      judged.push({ name, bytes, flavours: ['2a', 'ua1'] });
    }
    assert.deepEqual(await violations(judged), []);
  });
});
