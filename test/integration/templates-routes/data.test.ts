import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { JobRequest } from '../../../src/render/renderer.ts';
import { rawNumber } from '../../../src/tenants/templates/long-integers.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

const SCHEMA = {
  type: 'object',
  required: ['lines'],
  properties: { lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } } },
  $defs: { line: { type: 'object', required: ['price'], properties: { price: { type: 'number' } } } },
};
const CONTENT = '{% for line in lines %}{{ line.price | money: "EUR" }}{% endfor %}';
const MISSING = 'Line 1, column 4: totl is not in the data of the template.';

describe('The data of templates', () => {
  const api = useApi();
  let caller: TestCaller;
  let owner: AccountClient;
  /** What the worker was asked to render, in this order. */
  let rendered: JobRequest[];

  beforeEach(async () => {
    rendered = [];
    api.worker.render = async (_job, _input, request) => {
      rendered.push(request);
      return { pages: 1 };
    };
    caller = await api.newCaller();
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
  });

  const save = async (content: string, more: object = {}) =>
    owner.expect(201, 'POST', '/user/templates', { name: 'invoice', content, ...more });
  const htmlOf = ({ source }: JobRequest) => (source.kind === 'html' ? source.html : undefined);

  async function batchItems(items: readonly object[]) {
    const accepted = await caller.post('/v1/pdf/batch', { items });
    assert.equal(accepted.status, 202, JSON.stringify(accepted.json));
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
    let batch: any;
    await eventually('the batch has ended', async () => {
      batch = (await caller.get(accepted.json.statusUrl)).json;
      return batch.progress.pending === 0;
    });
    return batch.items;
  }

  it('are printed by locale and timezone of the render, and integers beyond 2^53 with all their digits', async () => {
    const { id } = await save('{{ n | money: "EUR" }} {{ d | date: "%d %B %H" }} {{ id }} {{ list | json }}');
    const big = rawNumber('9007199254740993');
    const data = { n: 1234.5, d: '2026-02-28T23:30:00Z', id: big, list: [{ id: big }] };
    const options = { locale: 'de-DE', timezone: 'Asia/Tokyo' };
    assert.equal((await caller.render({ templateId: id, data, options })).status, 200);
    const list = '[{&#34;id&#34;:9007199254740993}]';
    assert.equal(htmlOf(rendered[0]!), `1.234,50\u00a0€ 01 März 08 9007199254740993 ${list}`);
    await batchItems([
      { id: 'a', templateId: id, data, options },
      { id: 'b', templateId: id, data },
    ]);
    assert.deepEqual(rendered.slice(1).map(htmlOf).toSorted(), [
      `1.234,50\u00a0€ 01 März 08 9007199254740993 ${list}`,
      `€1,234.50 28 February 23 9007199254740993 ${list}`,
    ]);
  });

  it('keep the digits in the input that their owner reads, and when the render is repeated', async () => {
    const { id } = await save('{{ id }}');
    const data = { id: rawNumber('12345678901234567890') };
    const { render } = api.worker;
    api.worker.render = async () => ({ fails: new PlatenError('SELECTOR_TIMEOUT') });
    const { jobId } = await owner.expect(202, 'POST', '/user/renders', { templateId: id, data });
    await eventually('it has failed', async () => {
      return (await owner.expect(200, 'GET', `/user/renders/${jobId}`)).status === 'failed';
    });
    const input = await owner.call('GET', `/user/renders/${jobId}/input`);
    assert.match(Buffer.from(input.bytes).toString(), /"id":12345678901234567890\}/);
    api.worker.render = render;
    await owner.expect(202, 'POST', `/user/renders/${jobId}/retry`);
    await eventually('it is rendered', () => rendered.length === 1);
    assert.equal(htmlOf(rendered[0]!), '12345678901234567890');
  });

  it('that lack a name are warned of in a report, and nobody else is told', async () => {
    const { id } = await save('{{ totl }}{{ customer.nmae }}');
    const request = { templateId: id, data: { customer: {} } };
    await caller.render(request);
    await caller.render({ ...request, report: true });
    await caller.render({ ...request, options: { report: true } });
    const warnings = [
      'totl is not in the data of the template',
      'customer.nmae is not in the data of the template',
    ];
    assert.deepEqual(
      rendered.map((render) => render.warnings),
      [[], warnings, warnings],
    );
  });

  it('that lack a name fail a render with strictData, beside the options or among them', async () => {
    const { id } = await save('{{ totl }}');
    for (const strict of [{ strictData: true }, { options: { strictData: true } }]) {
      const { status, json } = await caller.render({ templateId: id, data: { total: 1 }, ...strict });
      assert.deepEqual([status, json.code, json.message], [400, 'TEMPLATE_ERROR', MISSING]);
    }
    assert.equal((await caller.render({ templateId: id, strictData: true, data: { totl: 1 } })).status, 200);
    assert.equal(
      (await caller.render({ templateId: id, strictData: false, options: { strictData: true } })).status,
      200,
    );
    const items = await batchItems([
      { id: 'strict', templateId: id, strictData: true },
      { id: 'lenient', templateId: id },
    ]);
    assert.deepEqual(
      items.map(({ itemId, status, error }: { itemId: string; status: string; error: unknown }) => [
        itemId,
        status,
        error,
      ]),
      [
        ['strict', 'failed', { code: 'TEMPLATE_ERROR', message: MISSING }],
        ['lenient', 'completed', null],
      ],
    );
    const { jobId } = await owner.expect(202, 'POST', '/user/renders', { templateId: id, strictData: true });
    await eventually('it has failed', async () => {
      const { status, error } = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
      return status === 'failed' && error.message === MISSING;
    });
  });

  it('are compared with the schema of their template before anything is rendered', async () => {
    const { id, dataSchema } = await save(CONTENT, { dataSchema: SCHEMA });
    assert.deepEqual(JSON.parse(dataSchema), SCHEMA);
    const request = (data?: object) => ({ templateId: id, data });
    for (const [data, errors] of [
      [
        { lines: [{ price: '4' }, {}] },
        ['data.lines[0].price: must be of type number, not string', 'data.lines[1].price: is required'],
      ],
      [{ lines: [] }, ['data.lines: array has too few items (0 < 1)']],
      [undefined, ['data.lines: is required']],
    ] as const) {
      const { status, json } = await caller.render(request(data));
      assert.deepEqual([status, json.code, json.message], [400, 'VALIDATION', errors]);
      assert.equal((await owner.call('POST', '/user/renders', request(data))).status, 400);
    }
    const batch = await caller.post('/v1/pdf/batch', {
      items: [
        { id: 'good', ...request({ lines: [{ price: 1 }] }) },
        { id: 'bad', ...request({ lines: [{}] }) },
        { id: 'worse', ...request({}) },
      ],
    });
    assert.deepEqual(
      [batch.status, batch.json.code, batch.json.message],
      [
        400,
        'VALIDATION',
        ['items[1] ("bad").data.lines[0].price: is required', 'items[2] ("worse").data.lines: is required'],
      ],
    );
    assert.deepEqual(rendered, []);
    assert.equal((await caller.render(request({ lines: [{ price: 4 }] }))).status, 200);
    assert.equal(htmlOf(rendered[0]!), '€4.00');
  });

  it('have the schema of the version that is rendered', async () => {
    const saved = await save(CONTENT, { dataSchema: JSON.stringify(SCHEMA) });
    const path = `/user/templates/${saved.id}`;
    const changed = await owner.expect(200, 'PATCH', path, { content: 'x' });
    assert.equal(changed.dataSchema, JSON.stringify(SCHEMA), 'stays');
    const removed = await owner.expect(200, 'PATCH', path, { dataSchema: null });
    assert.ok(!('dataSchema' in removed));
    assert.deepEqual(await owner.expect(200, 'GET', path), removed);
    assert.equal((await caller.render({ templateId: saved.id, data: {} })).status, 200);
    const pinned = { templateId: saved.id, templateVersionId: saved.versionId, data: {} };
    assert.equal((await caller.render(pinned)).status, 400);
    const old = await owner.expect(200, 'GET', `${path}/versions/${saved.versionId}`);
    assert.equal(old.dataSchema, JSON.stringify(SCHEMA));
    const back = await owner.expect(200, 'POST', `${path}/versions/${saved.versionId}/rollback`);
    assert.equal(back.dataSchema, JSON.stringify(SCHEMA));
    const { versions } = await owner.expect(200, 'GET', `${path}/versions`);
    assert.ok(versions.every((version: object) => !('dataSchema' in version)));
    const list = await owner.expect(200, 'GET', '/user/templates?view=summary');
    assert.ok(!('dataSchema' in list.templates[0]));
  });

  it('are previewed by the same rules', async () => {
    const { id } = await save(CONTENT, { dataSchema: SCHEMA, sampleData: '{"lines": [{"price": 59.9}]}' });
    const preview = (body: object) => owner.call('POST', '/user/templates/preview', body);
    assert.equal((await preview({ templateId: id })).json.html, '€59.90');
    const german = await preview({ templateId: id, options: { locale: 'de-DE' } });
    assert.equal(german.json.html, '59,90\u00a0€');
    const unfit = await preview({ templateId: id, sampleData: '{"lines": [{}]}' });
    assert.deepEqual(
      [unfit.status, unfit.json.code, unfit.json.message],
      [400, 'VALIDATION', ['sampleData.lines[0].price: is required']],
    );
    const without = { templateId: id, sampleData: '{"lines": [{}]}', dataSchema: null };
    assert.equal((await preview(without)).json.html, '');
    const given = { content: '{{ a }}', sampleData: '{}', dataSchema: { required: ['a'] } };
    assert.deepEqual((await preview(given)).json.message, ['sampleData.a: is required']);
    const strict = await preview({ content: '{{ totl }}', options: { strictData: true } });
    assert.deepEqual([strict.status, strict.json.message], [400, MISSING]);
  });

  it('have no schema that is none, too large, of another draft, or without an end', async () => {
    const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) });
    for (const [dataSchema, error] of [
      [
        { $schema: 'http://json-schema.org/draft-03/schema#' },
        /^dataSchema\.\$schema: must be https.*2020-12/,
      ],
      [
        { properties: { a: { required: true } } },
        /^dataSchema\.properties\.a\.required: must be a list of names$/,
      ],
      [{ $ref: '#' }, /^dataSchema: refers to itself without end/],
      [
        { $ref: 'https://example.com/schema.json' },
        /^dataSchema\.\$ref: may only name a part of this schema/,
      ],
      [{ type: 'money' }, /^dataSchema\.type: must be of array, boolean/],
      [{ description: 'x'.repeat(1024 * 1024) }, /^dataSchema: must be at most 65536 characters long$/],
      ['x'.repeat(1024 * 1024), /^dataSchema: must be at most 65536 characters long$/],
      [deep(100), /^dataSchema: must not have more than 64 levels$/],
      ['{"a":', /^dataSchema: must be a JSON document/],
      ['[]', /^dataSchema: must be a schema/],
    ] as const) {
      const body = { name: 'x', content: 'x', dataSchema };
      const { status, json } = await owner.call('POST', '/user/templates', body);
      assert.deepEqual([status, json.code], [400, 'VALIDATION'], JSON.stringify(json));
      assert.match([json.message].flat()[0], error);
    }
    const tree = {
      $defs: { node: { properties: { children: { items: { $ref: '#/$defs/node' } } } } },
      $ref: '#/$defs/node',
    };
    await save('x', { dataSchema: tree });
  });

  it('are not compared for ever', async () => {
    // Each level is checked twice by the one above it.
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/$defs/level${n + 1}` };
        return [`level${n}`, n === 39 ? {} : { allOf: [next, next] }];
      }),
    );
    for (const [dataSchema, data] of [
      [{ $defs, $ref: '#/$defs/level0' }, { a: 1 }],
      [{ properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(40)}!` }],
    ] as const) {
      const { id } = await save('x', { dataSchema });
      const { status, json } = await caller.render({ templateId: id, data });
      assert.deepEqual([status, json.code], [400, 'VALIDATION']);
      assert.match([json.message].flat()[0], /^dataSchema: the data could not be compared with it/);
    }
    assert.deepEqual(rendered, []);
  });
});
