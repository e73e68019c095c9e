import assert from 'node:assert/strict';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe('the preview of a template', () => {
  let api: TestApi;
  let client: AccountClient;

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri });
  });
  after(() => api.close());
  beforeEach(async () => {
    client = await signUp(api.url);
  });

  const save = (body: Record<string, unknown> = {}) =>
    client.expect(201, 'POST', '/user/templates', { name: 'invoice', content: '<p>{{a.b}}</p>', ...body });
  const preview = (body: unknown) => client.call('POST', '/user/templates/preview', body);

  it('renders with the data of the request, escaped', async () => {
    const response = await preview({
      content: '<ul>{% for i in items %}<li>{{ i.name }}</li>{% endfor %}</ul>',
      sampleData: '{"items":[{"name":"a"},{"name":"<b>"}]}',
    });
    assert.equal(response.status, 200);
    assert.deepEqual(response.json, { html: '<ul><li>a</li><li>&lt;b&gt;</li></ul>' });
  });

  it('renders a saved template with its sample data', async () => {
    const { id } = await save({ sampleData: '{"a":{"b":7}}' });
    assert.equal((await preview({ templateId: id })).json.html, '<p>7</p>');
    assert.equal((await preview({ templateId: id, sampleData: '{"a":{"b":8}}' })).json.html, '<p>8</p>');
    assert.equal((await preview({ templateId: NOWHERE })).status, 404);
  });

  it('rejects an invalid request', async () => {
    for (const body of [{}, { content: 'x', templateId: NOWHERE }, { sampleData: '{}' }]) {
      const response = await preview(body);
      assert.deepEqual(response.json.message, ['body: exactly one of content and templateId is required']);
    }
    for (const sampleData of ['[]', '1', 'null', '"x"']) {
      const response = await preview({ content: 'x', sampleData });
      assert.deepEqual(response.json.message, ['sampleData: must be a JSON object to fill variables']);
    }
  });

  it('rejects data with too many elements, or nested too deeply', async () => {
    const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const many = (values: number) => `{"a":[${'1,'.repeat(values - 1)}1]}`;
    for (const [sampleData, error] of [
      [deep(500_000), 'more than 64 levels'],
      [deep(65), 'more than 64 levels'],
      [many(300_000), 'more than 50000 names and values'],
      [`{"a":[${deep(60).repeat(8000)}]}`, 'more than 50000 names and values'],
    ] as const) {
      for (const [method, path] of [
        ['POST', '/user/templates/preview'],
        ['POST', '/user/templates'],
      ] as const) {
        const { status, json } = await client.call(method, path, {
          ...(path === '/user/templates' && { name: 'x' }),
          content: 'x',
          sampleData,
        });
        assert.deepEqual([status, json.message], [400, [`sampleData: must not have ${error}`]], path);
      }
    }
    for (const sampleData of [deep(64), many(49_990)])
      assert.equal((await preview({ content: '{{ a.size }}', sampleData })).status, 200);
  });

  it('renders with data that an older version has saved, however deep', async () => {
    const { versionId, id } = await save();
    const deep = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    const versions = api.domain.connection.collection<{ _id: string }>('template_versions');
    await versions.updateOne({ _id: versionId }, { $set: { sampleData: deep } });
    const { status, json } = await preview({ templateId: id });
    assert.deepEqual([status, json], [200, { html: '<p></p>' }]);
  });

  it('ends when it runs too long, and other requests are served meanwhile', async () => {
    const endless = '{% for a in (1..10000) %}{% for b in (1..10000) %}{% endfor %}{% endfor %}';
    const neighbour = await signUp(api.url);
    let ended = 0;
    const attempts = Array.from({ length: 3 }, () =>
      preview({ content: endless }).finally(() => {
        ended += 1;
      }),
    );
    const response = await neighbour.call('POST', '/user/templates/preview', { content: 'x' });
    assert.equal(response.status, 200);
    assert.ok(
      ended < 2,
      `${ended} of the three had ended: with one process for templates it waits for one at most`,
    );
    for (const attempt of await Promise.all(attempts)) {
      assert.equal(attempt.status, 400);
      assert.equal(attempt.json.code, 'TEMPLATE_ERROR');
    }
  });
});
