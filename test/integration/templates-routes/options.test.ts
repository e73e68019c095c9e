import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { JobRequest } from '../../../src/render/renderer.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

const CONTENT = '<h1>{{ number }}</h1>';
const OPTIONS = {
  format: 'A5',
  displayHeaderFooter: true,
  headerTemplate: '<b>No. {{ number }} {{ sum | money: "EUR" }}</b>',
  margin: { top: '2cm', bottom: '1cm' },
  metadata: { author: 'Shop' },
  locale: 'de-DE',
} as const;
const FILLED = '<b>No. 7 1,50\u00a0€</b>';
const DATA = { number: 7, sum: 1.5 };

describe('The options of a template', () => {
  const api = useApi({ plan: { maxTimeoutMs: 60_000 } });
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

  const save = (more: object = {}) =>
    owner.expect(201, 'POST', '/user/templates', {
      name: 'invoice',
      content: CONTENT,
      options: OPTIONS,
      ...more,
    });
  const lastOptions = () => rendered.at(-1)!.options;

  async function batch(items: readonly object[]) {
    const accepted = await caller.post('/v1/pdf/batch', { items });
    assert.equal(accepted.status, 202, JSON.stringify(accepted.json));
    await eventually('the batch has ended', async () => {
      const { json } = await caller.get(accepted.json.statusUrl);
      return json.progress.pending === 0;
    });
  }

  it('are those of its renders, filled in with their data', async () => {
    const { id, options } = await save();
    assert.deepEqual(options, OPTIONS);
    const reply = await caller.render({ templateId: id, data: DATA, output: 'url' });
    assert.equal(reply.status, 200);
    assert.equal(reply.json.metadata.format, 'A5');
    assert.deepEqual(lastOptions(), { ...OPTIONS, headerTemplate: FILLED });
    const { jobId } = (await caller.render({ templateId: id, data: DATA, executionMode: 'async' })).json;
    await eventually('it is rendered', () => rendered.some((request) => request.jobId === jobId));
    assert.deepEqual(lastOptions(), { ...OPTIONS, headerTemplate: FILLED });
    await owner.expect(202, 'POST', '/user/renders', { templateId: id, data: DATA });
    await eventually('all are rendered', () => rendered.length === 3);
    const tried = { watermark: { text: 'TEST' }, report: true };
    assert.deepEqual(lastOptions(), { ...OPTIONS, headerTemplate: FILLED, ...tried });
  });

  it('come after those of a render, and those that stand beside them', async () => {
    const { id } = await save({ options: { ...OPTIONS, report: true, strictData: true } });
    const options = { headerTemplate: 'Own {{ number }}', margin: { top: '3cm' }, metadata: { title: 'x' } };
    const paper = { width: '10cm', height: '10cm' };
    const { status } = await caller.render({
      templateId: id,
      data: DATA,
      report: false,
      options: { ...options, ...paper },
    });
    assert.equal(status, 200);
    const { format: _, ...rest } = OPTIONS;
    assert.deepEqual(lastOptions(), {
      ...rest,
      ...paper,
      headerTemplate: 'Own 7',
      margin: { top: '3cm', bottom: '1cm' },
      metadata: { author: 'Shop', title: 'x' },
      report: false,
      strictData: true,
    });
  });

  it('are those of each item of a batch, stored once for all', async () => {
    const { id } = await save({ options: { ...OPTIONS, styles: [`/*${'x'.repeat(50_000)}*/`] } });
    const items = Array.from({ length: 10 }, (_, n) => ({ id: `${n}`, templateId: id, data: DATA }));
    const own = { id: 'own', templateId: id, data: DATA, options: { format: 'A3', headerTemplate: '' } };
    let stored = 0;
    const { render } = api.worker;
    api.worker.render = async (...call) => {
      const collection = api.domain.connection.collection('job_inputs');
      stored = Math.max(stored, JSON.stringify(await collection.find({}).toArray()).length);
      return render(...call);
    };
    await batch([...items, own, { id: 'html', html: 'x' }]);
    const seen = rendered.map(({ options: { styles: _styles, ...options } }) => options);
    const count = (options: object) => seen.filter((each) => isDeepStrictEqual(each, options)).length;
    assert.deepEqual(
      [
        count({ ...OPTIONS, headerTemplate: FILLED }),
        count({ ...OPTIONS, format: 'A3', headerTemplate: '' }),
        count({}),
      ],
      [10, 1, 1],
    );
    assert.ok(stored > 0 && stored < 10 * 50_000, `${stored}`);
  });

  it('belong to a version, stay when something else is changed, and come back with a rollback', async () => {
    const saved = await save();
    const path = `/user/templates/${saved.id}`;
    assert.deepEqual((await owner.expect(200, 'PATCH', path, { content: 'x' })).options, OPTIONS);
    const other = await owner.expect(200, 'PATCH', path, { options: { format: 'A3' } });
    assert.deepEqual(other.options, { format: 'A3' });
    const none = await owner.expect(200, 'PATCH', path, { options: null });
    assert.ok(!('options' in none));
    assert.deepEqual(await owner.expect(200, 'GET', path), none);
    for (const [versionId, format] of [
      [undefined, undefined],
      [other.versionId, 'A3'],
      [saved.versionId, 'A5'],
    ]) {
      await caller.render({ templateId: saved.id, templateVersionId: versionId, data: DATA });
      assert.equal(lastOptions().format, format);
    }
    assert.deepEqual(
      (await owner.expect(200, 'GET', `${path}/versions/${saved.versionId}`)).options,
      OPTIONS,
    );
    const back = await owner.expect(200, 'POST', `${path}/versions/${saved.versionId}/rollback`);
    assert.deepEqual(back.options, OPTIONS);
    const again = await owner.expect(200, 'POST', `${path}/versions/${none.versionId}/rollback`);
    assert.ok(!('options' in again));
    const { versions } = await owner.expect(200, 'GET', `${path}/versions`);
    assert.ok(versions.every((version: object) => !('options' in version)));
    const list = await owner.expect(200, 'GET', '/user/templates?view=summary');
    assert.ok(!('options' in list.templates[0]));
  });

  it('are refused with the path of what is wrong', async () => {
    const saved = await save();
    for (const [options, error] of [
      [{ scale: 5 }, 'options.scale: must be at most 2'],
      [{ margin: { top: 'x' } }, /^options\.margin\.top: must be a length/],
      [{ nope: 1 }, 'options.nope: is not known'],
      [{ webhookUrl: 'https://example.com/' }, 'options.webhookUrl: is not known'],
      [{ headerTemplate: 'x'.repeat(5001) }, 'options.headerTemplate: must have at most 5000 characters'],
      [{ width: '10cm' }, /^options\.width: needs height/],
      [{ assetHeaders: { Authorization: 'x' } }, /^options\.assetHeaders: must not be saved, .*secrets/],
      [{ cookies: [] }, /^options\.cookies: must not be saved/],
      [[], /^options: must be an object/],
    ] as const) {
      for (const [method, path] of [
        ['POST', '/user/templates'],
        ['PATCH', `/user/templates/${saved.id}`],
      ] as const) {
        const body = { ...(method === 'POST' && { name: 'x', content: 'x' }), options };
        const { status, json } = await owner.call(method, path, body);
        assert.deepEqual([status, json.code], [400, 'VALIDATION'], JSON.stringify(json));
        if (typeof error === 'string') assert.deepEqual(json.message, [error]);
        else assert.match(json.message[0], error);
      }
    }
    const footerTemplate = '<b>\n{% if %}</b>';
    const { status, json } = await owner.call('PATCH', `/user/templates/${saved.id}`, {
      options: { footerTemplate },
    });
    assert.deepEqual([status, json.code], [400, 'TEMPLATE_ERROR']);
    assert.match(json.message, /^options\.footerTemplate: Line 2, /);
    assert.equal((await owner.expect(200, 'GET', `/user/templates/${saved.id}`)).version, 1);
  });

  it('that do not go with those of a render, or not with the plan, are named by it', async () => {
    const { id } = await save({ options: { firstHeaderTemplate: 'x' } });
    const options = { pageRanges: '1' };
    const error =
      'options.firstHeaderTemplate: must not be given with pageRanges: leave one of them out, such as {"firstHeaderTemplate": ""} (some are saved with the template)';
    const single = await caller.render({ templateId: id, data: DATA, options });
    assert.deepEqual([single.status, single.json.code, single.json.message], [400, 'VALIDATION', [error]]);
    const item = (name: string, more: object) => ({ id: name, templateId: id, data: DATA, ...more });
    const inBatch = await caller.post('/v1/pdf/batch', { items: [item('a', {}), item('b', { options })] });
    assert.deepEqual([inBatch.status, inBatch.json.message], [400, [`items[1] ("b").${error}`]]);
    const request = { templateId: (await save({ options: { timeoutMs: 61_000 } })).id };
    const late = await caller.render(request);
    assert.deepEqual([late.status, late.json.code], [403, 'PLAN_LIMIT']);
    assert.match(late.json.message, /^options\.timeoutMs: the plan allows at most/);
    const lateItems = await caller.post('/v1/pdf/batch', {
      items: [
        { id: 'a', html: 'x' },
        { id: 'b', ...request },
      ],
    });
    assert.deepEqual([lateItems.status, lateItems.json.code], [403, 'PLAN_LIMIT']);
    assert.match(lateItems.json.message, /^items\[1\] \("b"\)\.options\.timeoutMs: the plan allows/);
    assert.equal((await caller.render({ ...request, options: { timeoutMs: 1000 } })).status, 200);
    assert.equal(rendered.length, 1);
  });

  it('are those of previews, whose headers are filled in with the sample data', async () => {
    const { id } = await save({ sampleData: JSON.stringify(DATA), content: '{{ sum | money: "EUR" }}' });
    const preview = (body: object) => owner.call('POST', '/user/templates/preview', body);
    assert.equal((await preview({ templateId: id })).json.html, '1,50\u00a0€');
    assert.equal((await preview({ templateId: id, options: { locale: 'en-US' } })).json.html, '€1.50');
    assert.equal((await preview({ templateId: id, output: 'pdf', options: { format: 'A3' } })).status, 202);
    await eventually('it is rendered', () => rendered.length === 1);
    const tried = { watermark: { text: 'TEST' }, report: true };
    assert.deepEqual(lastOptions(), { ...OPTIONS, format: 'A3', headerTemplate: FILLED, ...tried });
    const broken = await preview({ content: 'x', options: { headerTemplate: '{{ a | nope }}' } });
    assert.deepEqual([broken.status, broken.json.code], [400, 'TEMPLATE_ERROR']);
    assert.match(broken.json.message, /^options\.headerTemplate: Line 1, /);
  });

  it('are bounded together where every item of a batch has others', async () => {
    const styles = Array.from({ length: 10 }, () => 'x'.repeat(100_000));
    const { id } = await save({ options: { styles, scripts: styles } });
    const items = Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, templateId: id }));
    const own = items.map((item, n) => ({ ...item, options: { metadata: { title: `${n}` } } }));
    const refused = await caller.post('/v1/pdf/batch', { items: own });
    assert.deepEqual([refused.status, refused.json.code], [413, 'INPUT_TOO_LARGE']);
    assert.match(
      refused.json.message,
      /^items\[16\] \("16"\)\.options: the options of this batch and of its/,
    );
    await batch(items);
    assert.equal(rendered.length, 20);
  });

  it('count as stored bytes, and as part of the size of a template', async () => {
    await save({ options: { styles: ['x'.repeat(100_000)] } });
    const { templates } = await owner.expect(200, 'GET', '/user/templates?view=summary');
    assert.ok(templates[0].size > 100_000 && templates[0].size < 101_000, `${templates[0].size}`);
  });
});
