import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { eventually } from '../../support/eventually.ts';
import { exampleInvoice, exampleXml } from '../../support/invoice.ts';
import { type TestCaller, useApi } from './support/api.ts';

describe('e-invoices of requests', () => {
  const api = useApi();
  let caller: TestCaller;
  /** The options that the worker got, by the number of the invoice or of the render. */
  let rendered: RenderOptions[];

  beforeEach(async () => {
    caller = await api.newCaller();
    rendered = [];
    api.worker.render = async (_job, { options }) => {
      rendered.push(options);
      return { pages: 1 };
    };
  });

  const einvoice = { profile: 'en16931', data: exampleInvoice() };
  /** An invoice whose total is a cent too high. */
  const wrong = () => {
    const invoice = exampleInvoice();
    invoice.totals.withVat = 307.01;
    invoice.totals.due = 307.01;
    return invoice;
  };
  async function saved(options: object = {}): Promise<string> {
    const content = '<h1>Invoice {{ number }}</h1><p>{{ seller.name }}';
    const { template } = await api.templates.create(caller.accountId, {
      name: 'invoice',
      content,
      sampleData: '{}',
      ...options,
    });
    return template._id;
  }

  it('are written as XML before the render, which gets nothing else', async () => {
    assert.equal((await caller.render({ html: 'x', options: { einvoice } })).status, 200);
    assert.deepEqual(rendered[0]!.einvoice, { profile: 'en16931', xml: exampleXml('en16931') });
    const xml = exampleXml('basic');
    assert.equal(
      (await caller.render({ html: 'x', options: { einvoice: { profile: 'basic', xml } } })).status,
      200,
    );
    assert.deepEqual(rendered[1]!.einvoice, { profile: 'basic', xml });
  });

  it('can be had as XML by themselves, by their owner, once the PDF is there', async () => {
    const jobId = await caller.completed({ options: { einvoice } });
    const file = await caller.get(`/v1/pdf/jobs/${jobId}/einvoice`);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get('content-type'), 'application/xml');
    assert.match(file.headers.get('content-disposition')!, /filename=document\.xml/);
    assert.equal(Buffer.from(file.bytes).toString(), exampleXml('en16931'));
    const stranger = await api.newCaller();
    assert.equal((await stranger.get(`/v1/pdf/jobs/${jobId}/einvoice`)).status, 404);
    const other = await caller.completed();
    assert.equal((await caller.get(`/v1/pdf/jobs/${other}/einvoice`)).status, 404);
    const { output } = (await api.domain.store.find(caller.accountId, jobId))!;
    assert.equal(output!.einvoice!.size, file.bytes.length);
    const kept = await api.domain.stored.of(caller.accountId);
    assert.ok(kept >= output!.size + output!.einvoice!.size, `${kept}`);
  });

  it('are the data of a template, whose options may ask for them', async () => {
    const templateId = await saved({ options: { einvoice: { profile: 'basicwl' } } });
    const plain = await saved();
    const data = exampleInvoice();
    assert.equal((await caller.render({ templateId, data })).status, 200);
    assert.equal(
      (await caller.render({ templateId: plain, data, options: { einvoice: { profile: 'xrechnung' } } }))
        .status,
      200,
    );
    assert.deepEqual(
      rendered.map((options) => options.einvoice?.xml),
      [exampleXml('basicwl'), exampleXml('xrechnung')],
    );
  });

  it('are an error at once, with every term that is wrong, and no job', async () => {
    const refused = await caller.render({ html: 'x', options: { einvoice: { ...einvoice, data: wrong() } } });
    assert.deepEqual([refused.status, refused.json.code], [400, 'EINVOICE_INVALID']);
    assert.deepEqual(refused.json.message, [
      'options.einvoice: BT-112 (BR-CO-15): is 307.01, and BT-109 plus BT-110 is 307.00',
    ]);
    const templateId = await saved({ options: { einvoice: { profile: 'en16931' } } });
    const empty = await caller.render({ templateId, data: { number: 7 } });
    assert.equal(empty.json.code, 'EINVOICE_INVALID');
    assert.match(empty.json.message[0], /^options\.einvoice: BT-1 \(number\): must be text/);
    const none = await caller.render({ html: 'x', options: { einvoice: { profile: 'minimum' } } });
    assert.deepEqual([none.status, none.json.code], [400, 'VALIDATION']);
    const large = { ...exampleInvoice(), extra: { text: 'x'.repeat(1024 * 1024) } };
    const tooLarge = await caller.render({ html: 'x', options: { einvoice: { ...einvoice, data: large } } });
    assert.match(tooLarge.json.message[0], /the invoice has \d+ bytes as JSON, and may have 1048576/);
    assert.equal(rendered.length, 0);
    const { json } = await caller.get('/v1/pdf/jobs');
    assert.equal(json.total, 0);
  });

  it('of a batch are those of its items, and refuse it as a whole with the items that are wrong', async () => {
    const templateId = await saved();
    const options = { einvoice: { profile: 'en16931' } };
    const item = (id: string, data: object) => ({ id, templateId, data, options });
    const second = { ...exampleInvoice(), number: '2026-0067' };
    const refused = await caller.post('/v1/pdf/batch', {
      items: [item('a', exampleInvoice()), item('b', wrong()), item('c', { ...wrong(), currency: 'EUX' })],
    });
    assert.deepEqual([refused.status, refused.json.code], [400, 'EINVOICE_INVALID']);
    assert.deepEqual(refused.json.message, [
      'items[1] ("b").options.einvoice: BT-112 (BR-CO-15): is 307.01, and BT-109 plus BT-110 is 307.00',
      'items[2] ("c").options.einvoice: BT-5 (BR-CL-04): "EUX" is no currency (ISO 4217), such as EUR',
      'items[2] ("c").options.einvoice: BT-112 (BR-CO-15): is 307.01, and BT-109 plus BT-110 is 307.00',
    ]);
    const accepted = await caller.post('/v1/pdf/batch', {
      items: [item('a', exampleInvoice()), item('b', second), { id: 'c', html: 'x' }],
    });
    assert.equal(accepted.status, 202);
    const ended = async () => (await caller.get(accepted.json.statusUrl)).json.finishedAt !== null;
    await eventually('the batch has ended', ended);
    assert.deepEqual(
      rendered.map((each) => each.einvoice?.xml).toSorted(),
      [exampleXml('en16931'), exampleXml('en16931', second), undefined].toSorted(),
    );
  });
});
