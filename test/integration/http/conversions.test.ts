import assert from 'node:assert/strict';
import { PDFDocument } from '@cantoo/pdf-lib';
import { withConversions } from '../../../src/render/conversion/with-conversions.ts';
import { createPdfFinisher, type PdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { JobRenderer, JobRequest } from '../../../src/render/renderer.ts';
import { eventually } from '../../support/eventually.ts';
import { formOf } from '../../support/form.ts';
import { exampleXml } from '../../support/invoice.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { converted as convertedBy, sentFixture } from '../../support/sent-fixture.ts';
import { type TestCaller, useApi } from './support/api.ts';

const PATH = '/v1/pdf/convert';

describe('POST /v1/pdf/convert', () => {
  const api = useApi({ plan: { maxInputSizeBytes: 200_000 } });
  let finisher: PdfFinisher;
  let caller: TestCaller;
  let pdf: Uint8Array;

  before(async () => {
    finisher = createPdfFinisher({ processes: 1 });
    pdf = await documentOf(3);
  });
  after(() => finisher.close());
  beforeEach(async () => {
    caller = await api.newCaller();
    const noBrowser = (): never => assert.fail('a conversion is rendered by no browser');
    const renderer = withConversions({ render: noBrowser, health: noBrowser, close: noBrowser }, finisher);
    api.worker.render = (_job, _input, request) => converted(renderer, request);
  });

  const convert = async (
    parts: Readonly<Record<string, string | Uint8Array>>,
    { from = caller, ...headers }: { from?: TestCaller } & Record<string, unknown> = {},
  ) => {
    const form = await formOf(parts);
    return await from.call('POST', PATH, form.body, { ...form.headers, ...(headers as object) });
  };
  const options = (given: object) => JSON.stringify(given);
  const PROPERTIES = { metadata: { title: 'Contract', keywords: ['one', 'two'] } };

  it('responds with the PDF of a form, changed as its options say', async () => {
    const file = { name: 'terms.csv', type: 'text/csv', content: Buffer.from('a;b').toString('base64') };
    const response = await convert({
      file: pdf,
      options: options({ ...PROPERTIES, attachments: [file] }),
      filename: 'contract.pdf',
    });
    assert.equal(response.status, 200, Buffer.from(response.bytes).toString());
    assert.equal(response.headers.get('x-service-pages'), '3');
    assert.match(response.headers.get('content-disposition')!, /contract\.pdf/);
    const read = await readPdf(response.bytes);
    assert.deepEqual(
      read.pages.map(({ text }) => text),
      ['Page 1', 'Page 2', 'Page 3'],
    );
    assert.equal(read.metadata.title, 'Contract');
    assert.equal(read.metadata.author, 'Ada');
    assert.deepEqual(
      read.attachments.map(({ name, content }) => [name, Buffer.from(content).toString()]),
      [['terms.csv', 'a;b']],
    );
    const record = await caller.get(`/v1/pdf/jobs/${response.headers.get('x-service-job-id')}`);
    assert.deepEqual([record.json.inputMode, record.json.pages], ['pdf', 3]);
  });

  it('fills in the fields of a file, and flattens those of the job that has made it', async () => {
    const document = await PDFDocument.load(pdf);
    document
      .getForm()
      .createTextField('a.name')
      .addToPage(document.getPage(0), { x: 9, y: 9, width: 90, height: 20 });
    const ask = async (path: string, parts: Parameters<typeof formOf>[0]) => {
      const form = await formOf(parts);
      return await caller.call('POST', path, form.body, form.headers);
    };
    const file = await document.save();
    const filled = await ask('/v1/pdf/fill', { file, values: options({ 'a.name': 'Zoë' }) });
    assert.equal(filled.status, 200, Buffer.from(filled.bytes).toString());
    const form = (await PDFDocument.load(filled.bytes)).getForm();
    assert.equal(form.getTextField('a.name').getText(), 'Zoë');
    const jobId = filled.headers.get('x-service-job-id');
    const flat = await caller.call('POST', '/v1/pdf/flatten', { jobId });
    assert.equal(flat.status, 200, Buffer.from(flat.bytes).toString());
    assert.equal((await PDFDocument.load(flat.bytes)).getForm().getFields().length, 0);
    assert.match((await readPdf(flat.bytes)).text, /Zoë/);
    const unknown = await ask('/v1/pdf/fill', { file, values: options({ name: 'x' }), flatten: 'true' });
    assert.deepEqual([unknown.status, unknown.json.code], [400, 'FORM_FIELD_UNKNOWN']);
    assert.match(unknown.json.message, /The PDF has no field "name": it has "a\.name"\./);
    const none = await ask('/v1/pdf/fill', { file });
    assert.deepEqual([none.status, none.json.code], [400, 'VALIDATION']);
  });

  it('takes the same as JSON, and the PDF of a job of the account', async () => {
    const first = await caller.call('POST', PATH, {
      pdf: Buffer.from(pdf).toString('base64'),
      output: 'url',
      options: PROPERTIES,
    });
    assert.equal(first.status, 200);
    assert.deepEqual([first.json.metadata.mode, first.json.metadata.format], ['pdf', 'as sent']);
    const jobId = first.headers.get('x-service-job-id');
    const second = await caller.call('POST', PATH, {
      jobId,
      options: { protection: { userPassword: 'open', permissions: { print: 'none' } } },
    });
    assert.equal(second.status, 200);
    const { metadata, pages } = await readPdf(second.bytes, 'open');
    assert.deepEqual([metadata.title, pages.length], ['Contract', 3]);
    await assert.rejects(readPdf(second.bytes));
  });

  it('is a job like any other: quota, async, idempotency and retry of the same body', async () => {
    const used = async () => (await api.domain.ledger.find(caller.accountId))?.quota;
    const parts = { file: pdf, executionMode: 'async' };
    const first = await convert(parts, { 'idempotency-key': 'one' });
    assert.equal(first.status, 202);
    await eventually('it has ended', async () => {
      const { json } = await caller.get(first.json.statusUrl);
      return json.status === 'completed';
    });
    const again = await convert(parts, { 'idempotency-key': 'one' });
    assert.equal(again.json.jobId, first.json.jobId);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const other = await convert({ ...parts, filename: 'other.pdf' }, { 'idempotency-key': 'one' });
    assert.equal(other.json.code, 'IDEMPOTENCY_MISMATCH');
    assert.ok(await used());
  });

  it('marks PDFs of test keys on every page', async () => {
    const tester = await api.newCaller({ mode: 'test' });
    const [marked, plain] = [await convert({ file: pdf }, { from: tester }), await convert({ file: pdf })];
    assert.deepEqual([marked.status, plain.status], [200, 200]);
    for (const page of [1, 3]) {
      const [with_, without] = await Promise.all(
        [marked, plain].map(async ({ bytes }) => (await renderPage(bytes, page)).countInk()),
      );
      assert.ok(with_! > without! + 2000, `${with_} pixels, and ${without} without a mark`);
    }
  });

  it('keeps PDFs of others, and of the other mode, from callers', async () => {
    const jobId = (await convert({ file: pdf })).headers.get('x-service-job-id')!;
    const { accountId } = caller;
    const tester = await api.newCaller({ mode: 'test' });
    for (const other of [await api.newCaller(), tester])
      assert.equal((await other.call('POST', PATH, { jobId })).status, 404);
    const missing = '0192f0c4-7a51-7c3e-9d1b-5f0a3c2e8b17';
    assert.equal((await caller.call('POST', PATH, { jobId: missing })).status, 404);
    assert.ok(accountId);
  });

  it('fails a job whose source is gone when its turn comes', async () => {
    const jobId = (await convert({ file: pdf })).headers.get('x-service-job-id')!;
    const { output } = (await api.domain.store.find(caller.accountId, jobId))!;
    await api.outputs.delete(output!.key);
    const response = await caller.call('POST', PATH, { jobId });
    assert.deepEqual([response.status, response.json.code], [410, 'GONE']);
  });

  describe('refuses', () => {
    for (const [what, parts, message] of [
      ['no PDF', { filename: 'a.pdf' }, 'one of file (of a form), pdf and jobId is required'],
      [
        'two PDFs',
        { file: Buffer.from('%PDF-'), jobId: '0192f0c4-7a51-7c3e-9d1b-5f0a3c2e8b17' },
        'only one of file (of a form), pdf and jobId may be given, not two',
      ],
      [
        'an option of the print',
        { file: Buffer.from('%PDF-'), options: '{"margin":{"top":"1cm"}}' },
        'options.margin: is for documents that are rendered: the pages of a PDF stay as they are',
      ],
      ['an unknown option', { file: Buffer.from('%PDF-'), options: '{"x":1}' }, 'options.x: is not known'],
      ['an unknown part', { file: Buffer.from('%PDF-'), html: 'x' }, 'html: is not known'],
      ['a file that is a text', { file: '%PDF-' }, 'body: part "file" must be a file: give it a file name'],
      ['what is no base64', { pdf: 'JVBERi0=\n' }, 'pdf: must be base64'],
    ] as const) {
      it(what, async () => {
        const response = await convert(parts);
        assert.equal(response.status, 400);
        assert.ok(String(response.json.message).includes(message), response.json.message);
      });
    }

    it('options that are not JSON, and say in which part', async () => {
      const { status, json } = await convert({ file: pdf, options: '{' });
      assert.deepEqual([status, json.code], [400, 'MALFORMED_JSON']);
      assert.match(json.message, /^The part "options" is not valid JSON: .*line 1 column 2/);
    });

    it('a body that is no form, has no boundary, or too many parts', async () => {
      const sent = (body: string, type: string) => caller.call('POST', PATH, body, { 'content-type': type });
      const form = 'multipart/form-data';
      const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n';
      for (const [body, type, message] of [
        ['x', form, 'body: Content-Type has no boundary'],
        [
          'x',
          `${form}; boundary=x`,
          'body: is no multipart/form-data: build it by a library, and let that set Content-Type',
        ],
        [`${part.repeat(2)}--x--\r\n`, `${form}; boundary=x`, 'body: part "a" is given twice'],
        [`${part.repeat(21)}--x--\r\n`, `${form}; boundary=x`, 'body: must have at most 20 parts'],
      ] as const) {
        const { status, json } = await sent(body, type);
        assert.deepEqual([status, json.message], [400, [message]]);
      }
      assert.equal((await sent('x', 'application/pdf')).json.code, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('a file beyond the limit of the plan, before it is read', async () => {
      const { status, json } = await convert({ file: Buffer.alloc(200_001) });
      assert.deepEqual([status, json.code], [413, 'INPUT_TOO_LARGE']);
    });

    it('what is no PDF, by the error of its job, for good', async () => {
      const response = await convert({ file: Buffer.from('%PDF-1.7 and no more') });
      assert.deepEqual([response.status, response.json.code], [400, 'PDF_INVALID']);
      const record = await caller.get(`/v1/pdf/jobs/${response.json.jobId}`);
      assert.deepEqual([record.json.status, record.json.attemptCount], ['failed', 1]);
    });
  });
});

async function converted(renderer: JobRenderer, request: JobRequest) {
  const { pages, bytes } = await renderer.render(request);
  return { pages, pdf: bytes };
}

async function documentOf(pages: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.setAuthor('Ada');
  for (let page = 1; page <= pages; page += 1) document.addPage([300, 400]).drawText(`Page ${page}`);
  return await document.save();
}

describe('POST /v1/pdf/validate', () => {
  const api = useApi();

  it('says what a file or the PDF of a job claims, and uses no quota', async () => {
    const caller = await api.newCaller();
    const pdf = await documentOf(2);
    const form = await formOf({ file: pdf });
    const sent = await caller.call('POST', '/v1/pdf/validate', form.body, form.headers);
    assert.equal(sent.status, 200, Buffer.from(sent.bytes).toString());
    assert.deepEqual([sent.json.holds, sent.json.pages], [true, 2]);
    assert.equal(await api.domain.ledger.find(caller.accountId), undefined);
    api.worker.render = async () => ({ pages: 3 });
    const jobId = await caller.completed();
    const ofJob = await caller.call('POST', '/v1/pdf/validate', { jobId });
    assert.deepEqual([ofJob.status, ofJob.json.pages], [200, 3]);
    const stranger = await api.newCaller();
    assert.equal((await stranger.call('POST', '/v1/pdf/validate', { jobId })).status, 404);
  });

  it('finds an invoice that claims what it is not', async () => {
    const caller = await api.newCaller();
    const finisher = createPdfFinisher({ processes: 1 });
    try {
      for (const [xml, holds] of [
        [exampleXml('en16931'), true],
        [exampleXml('en16931').replace('>307.00</ram:Grand', '>308.00</ram:Grand'), false],
      ] as const) {
        const options = { einvoice: { profile: 'en16931', xml } } as const;
        const { bytes } = await convertedBy(finisher, await sentFixture('reportlab'), options);
        const form = await formOf({ file: bytes });
        const { json } = await caller.call('POST', '/v1/pdf/validate', form.body, form.headers);
        assert.equal(json.holds, holds, JSON.stringify(json));
      }
    } finally {
      await finisher.close();
    }
  });
});
