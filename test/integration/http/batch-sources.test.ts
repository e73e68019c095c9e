import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createEinvoiceChecker } from '../../../src/render/einvoice/einvoice-checker.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { assertNothingHeld } from '../../support/held.ts';
import { exampleInvoice } from '../../support/invoice.ts';
import { sharedTemplateEngine } from '../../support/template-engine.ts';
import { Sourced } from '../batches/sourced.ts';
import { callApi, type TestCaller, useApi } from './support/api.ts';

const ROWS = ['id,name', 'a,Ada', 'b,Grace', 'c,Barbara', 'd'].join('\n');
const CSV = { 'content-type': 'text/csv' };

describe('Batches of the rows of a file, over HTTP', () => {
  const api = useApi({
    plan: {
      maxBatchItems: 100_000,
      maxStoredBytes: 3_000_000,
      concurrentRenders: 4,
      features: { callbacks: true, templateVersions: true, revealIp: true },
    },
  });
  let caller: TestCaller;
  let owner: AccountClient;
  let templateId: string;
  let sourced: Sourced;

  beforeEach(async () => {
    caller = await api.newCaller();
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
    const template = { name: 'x', content: '<p>{{ name }}</p>' };
    templateId = (await owner.expect(201, 'POST', '/user/templates', template)).id;
    sourced = new Sourced(api.domain);
  });
  afterEach(() => sourced.close());

  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    callApi(api.url, 'POST', '/v1/pdf/batch/uploads', body, {
      ...CSV,
      'x-api-key': caller.secret,
      ...headers,
    });
  const source = (fields: object) => ({ source: { format: 'csv', templateId, ...fields } });
  const read = async (path: string, what: string, fits: (json: { source: { state: string } }) => boolean) =>
    eventually(what, async () => {
      await sourced.reader.sweep();
      return fits((await caller.get(path)).json);
    });

  it('are uploaded, proved, released, and have an item for each row', async () => {
    const uploaded = await send(ROWS);
    assert.deepEqual([uploaded.status, uploaded.json.bytes], [201, ROWS.length]);
    const accepted = await caller.post('/v1/pdf/batch', {
      ...source({ upload: uploaded.json.id }),
      proof: 1,
    });
    assert.equal(accepted.status, 202);
    assert.deepEqual([accepted.json.itemCount, accepted.json.totalCount], [0, 0]);
    const path = `/v1/pdf/batch/${accepted.json.jobId}`;
    await read(path, 'the proof is rendered', (json) => json.source.state === 'awaiting_release');
    await eventually('it is', async () => (await caller.get(path)).json.progress.completed === 1);
    const proved = (await caller.get(path)).json;
    assert.deepEqual([proved.status, proved.progress.total, proved.items.length], ['processing', 4, 1]);
    assert.equal((await caller.get(`${path}/a`)).status, 200);
    const other = await api.newCaller();
    assert.equal((await other.post(`${path}/release`, undefined)).status, 404);
    assert.equal((await caller.post(`${path}/release`, undefined)).status, 200);
    await read(
      path,
      'it has ended',
      (json) => (json as unknown as { finishedAt: unknown }).finishedAt !== null,
    );
    const batch = (await caller.get(path)).json;
    assert.equal(batch.status, 'completed');
    assert.deepEqual(
      batch.items.map((item: { itemId: string; status: string }) => [item.itemId, item.status]),
      [
        ['a', 'completed'],
        ['b', 'completed'],
        ['c', 'completed'],
        ['row-4', 'failed'],
      ],
    );
    assert.equal((await caller.post(`${path}/pause`, undefined)).json.code, 'WRONG_STATE');
    assert.equal((await caller.get(`${path}/zip`)).status, 200);
    await assertNothingHeld(api.domain.connection);
  });

  it('are refused when they name no file, two of them, or one of another account or mode', async () => {
    const { id: upload } = (await send(ROWS)).json;
    const url = 'https://example.com/rows.csv';
    for (const [body, error] of [
      [{}, 'items: is required without source'],
      [source({}), 'source: exactly one of url, upload is required'],
      [source({ upload, url }), 'source: exactly one of url, upload is required'],
      [{ ...source({ upload }), items: [] }, 'source: only one of items, source may be given'],
      [{ items: [], proof: 3 }, 'proof: may only be given together with source'],
      [
        source({ url, uploadUrl: 'https://example.com/x' }),
        'source.uploadUrl: must hold {row} or {id}, so that each PDF has an address of its own',
      ],
      [
        source({ upload, dataField: 'data' }),
        'source.dataField: may only be given for ndjson, whose lines have objects in them',
      ],
    ] as const) {
      const { status, json } = await caller.post('/v1/pdf/batch', body);
      assert.equal(status, 400);
      assert.ok([json.message].flat().includes(error), JSON.stringify(json.message));
    }
    const other = await api.newCaller();
    const tester = await api.newCaller({ mode: 'test' }).catch(() => undefined);
    for (const who of [other, tester]) {
      if (who === undefined) continue;
      const refused = await who.post('/v1/pdf/batch', source({ upload }));
      assert.equal(refused.status, 404);
    }
    const blocked = await caller.post('/v1/pdf/batch', source({ url: 'http://169.254.169.254/' }));
    assert.equal(blocked.json.code, 'URL_BLOCKED');
    assert.equal((await caller.post('/v1/pdf/batch', source({ upload: randomUUID() }))).status, 404);
    assert.equal((await caller.post('/v1/pdf/batch', source({ upload }))).status, 202);
    const again = await caller.post('/v1/pdf/batch', source({ upload }));
    assert.deepEqual([again.status, again.json.code], [404, 'NOT_FOUND'], 'an upload makes one batch');
  });

  it('are one batch for one Idempotency-Key', async () => {
    const { id: upload } = (await send(ROWS)).json;
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await caller.post('/v1/pdf/batch', source({ upload }), key);
    const second = await caller.post('/v1/pdf/batch', source({ upload }), key);
    assert.deepEqual([first.status, second.status], [202, 202]);
    assert.equal(first.json.jobId, second.json.jobId);
  });

  it('are refused as uploads that are of another type, compressed, or more than the account may store', async () => {
    assert.equal(
      (await send('{}', { 'content-type': 'application/json' })).json.code,
      'UNSUPPORTED_MEDIA_TYPE',
    );
    assert.equal((await send('x', { 'content-encoding': 'gzip' })).json.code, 'UNSUPPORTED_MEDIA_TYPE');
    const partsNow = () => api.domain.connection.collection('source_parts').countDocuments();
    const before = await partsNow();
    const full = await send(Buffer.alloc(3_100_000, 'x'));
    assert.deepEqual([full.status, full.json.code], [403, 'STORAGE_FULL']);
    assert.equal(await partsNow(), before, 'nothing is left of it');
    assert.equal((await send(ROWS)).status, 201, 'its storage is given back');
  });

  it('have rows that fit the schema of their template, or have failed', async () => {
    const dataSchema = { type: 'object', properties: { name: { minLength: 4 } } };
    const schemed = await owner.expect(201, 'POST', '/user/templates', {
      ...{ name: 's', content: '<p>{{ name }}</p>', dataSchema },
    });
    const strict = new Sourced(api.domain, {
      dataErrors: (schema, data, terms) => sharedTemplateEngine().dataErrors(schema, data, terms),
    });
    const { id: upload } = (await send(ROWS)).json;
    const { jobId } = (
      await caller.post('/v1/pdf/batch', { source: { format: 'csv', templateId: schemed.id, upload } })
    ).json;
    const path = `/v1/pdf/batch/${jobId}`;
    await eventually('it has ended', async () => {
      await strict.reader.sweep();
      return (await caller.get(path)).json.finishedAt !== null;
    });
    const { items } = (await caller.get(path)).json;
    assert.deepEqual(
      items.map((item: { status: string }) => item.status),
      ['failed', 'completed', 'completed', 'failed'],
    );
    assert.match(items[0].error.message, /^Row 1: data\.name/);
    await strict.close();
  });

  it('have nothing in their data but what a named field of their line has', async () => {
    const dataSchema = { type: 'object', properties: { name: {} }, additionalProperties: false };
    const schemed = await owner.expect(201, 'POST', '/user/templates', {
      ...{ name: 's', content: '<p>{{ name }}</p>', dataSchema },
    });
    const strict = new Sourced(api.domain, {
      dataErrors: (schema, data, terms) => sharedTemplateEngine().dataErrors(schema, data, terms),
    });
    const lines = [
      { id: 'a', filename: 'first', data: { name: 'Ada' } },
      { id: 'b', name: 'Grace' },
      { id: 'c', data: ['Barbara'] },
      { id: 'd', data: { name: 'Edsger', id: 'd' } },
    ];
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const { id: upload } = (await send(lines.map((each) => JSON.stringify(each)).join('\n'), ndjson)).json;
    const fields = { format: 'ndjson', templateId: schemed.id, upload, dataField: 'data' };
    const { jobId } = (await caller.post('/v1/pdf/batch', { source: fields })).json;
    const path = `/v1/pdf/batch/${jobId}`;
    await eventually('it has ended', async () => {
      await strict.reader.sweep();
      return (await caller.get(path)).json.finishedAt !== null;
    });
    const { items } = (await caller.get(path)).json;
    assert.deepEqual(
      items.map((item: { itemId: string; status: string }) => [item.itemId, item.status]),
      [
        ['a', 'completed'],
        ['row-2', 'failed'],
        ['row-3', 'failed'],
        ['d', 'failed'],
      ],
    );
    assert.deepEqual(
      [items[1], items[2]].map(({ error }) => error.message),
      ['Row 2: has no JSON object in "data".', 'Row 3: has no JSON object in "data".'],
    );
    assert.match(items[3].error.message, /^Row 4: data/);
    await strict.close();
  });

  it('have e-invoices of their own, and those that break a rule have failed', async () => {
    const options = { einvoice: { profile: 'en16931' } };
    const invoices = ['1', '2', '3'].map((number) => ({ ...exampleInvoice(), number }));
    invoices[1]!.currency = 'EUX';
    const sent = await send(invoices.map((each) => JSON.stringify(each)).join('\n'), {
      'content-type': 'application/x-ndjson',
    });
    const xmls: (string | undefined)[] = [];
    const { render } = api.worker;
    api.worker.render = async (job) => {
      xmls.push((await api.domain.store.inputs.load(job._id))?.options.einvoice?.xml);
      return { pages: 1 };
    };
    const einvoices = createEinvoiceChecker();
    const checking = new Sourced(api.domain, { einvoices });
    const fields = { upload: sent.json.id, format: 'ndjson', idColumn: 'number', options };
    const { jobId } = (await caller.post('/v1/pdf/batch', source(fields))).json;
    const path = `/v1/pdf/batch/${jobId}`;
    await eventually('it has ended', async () => {
      await checking.reader.sweep();
      return (await caller.get(path)).json.finishedAt !== null;
    });
    api.worker.render = render;
    const { items } = (await caller.get(path)).json;
    assert.deepEqual(
      items.map((item: { status: string }) => item.status),
      ['completed', 'failed', 'completed'],
    );
    assert.match(items[1].error.message, /^Row 2\.einvoice: BT-5/);
    assert.deepEqual(xmls.map((xml) => /<ram:ID>(\d)</.exec(xml ?? '')?.[1]).sort(), ['1', '3']);
    await checking.close();
    await einvoices.close();
  });

  it('put each PDF to an address that is made of its row', async () => {
    const { id: upload } = (await send('id,name\nä b,Ada\nb,Grace\n')).json;
    const uploadUrl = 'https://example.com/{batchId}/{row}-{id}.pdf';
    const { jobId } = (await caller.post('/v1/pdf/batch', source({ upload, uploadUrl }))).json;
    const path = `/v1/pdf/batch/${jobId}`;
    await read(
      path,
      'it has ended',
      (json) => (json as unknown as { finishedAt: unknown }).finishedAt !== null,
    );
    const jobs = await api.domain.connection.collection('uploads').find().toArray();
    const urls = jobs.map(({ url }) => url as string).filter((url) => url.includes(jobId));
    assert.deepEqual(urls.sort(), [
      `https://example.com/${jobId}/1-%C3%A4%20b.pdf`,
      `https://example.com/${jobId}/2-b.pdf`,
    ]);
  });
});
