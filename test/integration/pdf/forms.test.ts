import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { degrees, PDFDocument, rgb } from '@cantoo/pdf-lib';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import { createPdfMerger } from '../../../src/render/pdf/merge.ts';
import type { FillArgument } from '../../../src/render/pdf/steps/fill.ts';
import { printed } from '../../options/support/cases.ts';
import { readByOthers } from '../../options/support/other-readers.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { render, useBench } from '../chromium/support.ts';

describe('Forms', () => {
  const bench = useBench();
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => finisher.close());

  const fill = async (
    pdf: Uint8Array,
    { values = {}, flatten = false, drawn = flatten }: Partial<FillArgument>,
  ) => {
    const argument: FillArgument = { values, flatten, drawn };
    return (await finisher.convert(pdf, { steps: [{ step: 'fill', argument }], maxBytes: 10_000_000 })).pdf;
  };
  const valuesOf = async (pdf: Uint8Array) => {
    const { fields, problems } = await readByOthers(await printed(pdf));
    assert.deepEqual(problems, []);
    return Object.fromEntries(fields.map(({ name, values }) => [name, values[0]]));
  };

  /** A PDF of another program, whose fields have borders, backgrounds and turns of their own. */
  async function foreign() {
    const document = await PDFDocument.create();
    const page = document.addPage([400, 400]);
    const form = document.getForm();
    const box = { x: 20, width: 160, height: 24, borderWidth: 0 };
    const colours = { backgroundColor: rgb(1, 1, 0), borderColor: rgb(1, 0, 0), borderWidth: 2 };
    form.createTextField('applicant.name').addToPage(page, { ...box, y: 350, ...colours });
    const comb = form.createTextField('iban');
    comb.setMaxLength(8);
    comb.enableCombing();
    comb.addToPage(page, { ...box, y: 300 });
    form.createTextField('turned').addToPage(page, { ...box, x: 300, y: 100, rotate: degrees(90) });
    form.createCheckBox('agree').addToPage(page, { x: 20, y: 250, width: 20, height: 20 });
    const open = form.createDropdown('town');
    open.setOptions(['Oslo', 'Bergen']);
    open.enableEditing();
    open.addToPage(page, { ...box, y: 200 });
    return await document.save();
  }

  it('of other programs are filled in and flattened, with what their fields draw themselves', async () => {
    const values = {
      'applicant.name': 'Zoë',
      iban: 'NO123456',
      turned: 'upright',
      agree: true,
      town: 'Tromsø',
    };
    const filled = await fill(await foreign(), { values });
    assert.deepEqual(await valuesOf(filled), { ...values, agree: '/Yes' });
    const flat = await fill(filled, { flatten: true });
    const { text } = await readPdf(flat);
    for (const value of ['Zoë', 'Tromsø', 'upright']) assert.ok(text.includes(value), text);
    assert.match(text.replaceAll(/\s/g, ''), /NO123456/);
    const picture = await renderPage(flat);
    assert.ok(picture.countColor([255, 255, 0]) > 1000);
    assert.ok(picture.countColor([255, 0, 0]) > 100);
    assert.equal((await PDFDocument.load(flat)).getForm().getFields().length, 0);
  });

  it('are filled in and saved by pdf.js, and then by us', async () => {
    const html =
      '<input name="a.first" value="one"><input type="checkbox" name="ok"><select name="s"><option>x<option>y</select>';
    const { bytes } = await render(bench, html, { forms: true });
    const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
    const document = await task.promise;
    const page = await document.getPage(1);
    const ids = new Map<string, string>();
    for (const { fieldName, id } of await page.getAnnotations()) ids.set(fieldName, id);
    document.annotationStorage.setValue(ids.get('a.first')!, { value: 'by pdf.js' });
    document.annotationStorage.setValue(ids.get('ok')!, { value: true });
    document.annotationStorage.setValue(ids.get('s')!, { value: 'y' });
    const saved = await document.saveDocument();
    await task.destroy();
    assert.deepEqual(await valuesOf(saved), { 'a.first': 'by pdf.js', ok: '/on', s: 'y' });
    const ours = await fill(saved, { values: { 'a.first': 'by us', ok: false } });
    assert.deepEqual(await valuesOf(ours), { 'a.first': 'by us', ok: '/Off', s: 'y' });
  });

  it('are each below the number of their document in a merged PDF, and filled in there', async () => {
    const { bytes } = await render(bench, '<input name="a.name" value="x">', { forms: true });
    const merger = createPdfMerger({ memoryBytes: 1024 ** 3 });
    try {
      const source = { title: 'form', bytes: bytes.length, read: async () => bytes };
      const terms = { account: 'a', signal: new AbortController().signal };
      const merged = await buffer(merger.merge([source, source], terms));
      assert.deepEqual(await valuesOf(merged), { '1.a.name': 'x', '2.a.name': 'x' });
      const filled = await fill(merged, { values: { '2.a.name': 'y' } });
      assert.deepEqual(await valuesOf(filled), { '1.a.name': 'x', '2.a.name': 'y' });
    } finally {
      await merger.close();
    }
  });

  it('leave letters that are joined to readers, and refuse them where the text must be drawn', async () => {
    const values = { 'applicant.name': 'سلام' };
    const filled = await fill(await foreign(), { values });
    assert.equal((await valuesOf(filled))['applicant.name'], 'سلام');
    const document = await PDFDocument.load(filled, { updateMetadata: false });
    assert.match(document.getForm().acroForm.dict.toString(), /\/NeedAppearances true/);
    await assert.rejects(fill(await foreign(), { values, flatten: true }), {
      code: 'FORM_VALUE_INVALID',
      message: /"applicant.name" cannot be drawn: its letters are joined/,
    });
  });
});
