import assert from 'node:assert/strict';
import type { PlanName } from '../../../src/tenants/plans/plan.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

describe('templates', () => {
  let api: TestApi;
  let other: TestApi;
  let client: AccountClient;

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri });
    other = await openApi({ uri });
  });
  after(async () => {
    await other.close();
    await api.close();
  });
  beforeEach(async () => {
    client = await signUp(api.url);
    await moveTo('professional');
  });

  async function moveTo(plan: PlanName): Promise<void> {
    const { id } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(id, plan);
    await other.accounts.setPlan(id, plan);
  }

  async function save(body: Record<string, unknown> = {}) {
    return client.expect(201, 'POST', '/user/templates', {
      name: 'invoice',
      content: '<p>{{a.b}}</p>',
      ...body,
    });
  }

  it('are saved, read, listed, changed and deleted', async () => {
    const saved = await save({ sampleData: '{"a":{"b":1}}' });
    assert.deepEqual(saved, {
      id: saved.id,
      name: 'invoice',
      content: '<p>{{a.b}}</p>',
      sampleData: '{"a":{"b":1}}',
      versionId: saved.versionId,
      version: 1,
      createdAt: saved.createdAt,
      updatedAt: saved.createdAt,
    });
    assert.deepEqual(await client.expect(200, 'GET', `/user/templates/${saved.id}`), saved);
    const second = await save({ name: 'letter' });
    assert.equal(second.sampleData, '{}');
    const list = await client.expect(200, 'GET', '/user/templates');
    assert.deepEqual([list.total, list.limit, list.offset], [2, 20, 0]);
    assert.deepEqual(list.templates, [second, saved]);
    assert.deepEqual((await client.expect(200, 'GET', '/user/templates?limit=1&offset=1')).templates, [
      saved,
    ]);

    const changed = await client.expect(200, 'PATCH', `/user/templates/${saved.id}`, { content: 'new' });
    assert.equal(changed.version, 2);
    assert.notEqual(changed.versionId, saved.versionId);
    assert.deepEqual(
      [changed.name, changed.content, changed.sampleData],
      ['invoice', 'new', '{"a":{"b":1}}'],
    );
    assert.deepEqual(await client.expect(200, 'GET', `/user/templates/${saved.id}`), changed);

    await client.expect(200, 'DELETE', `/user/templates/${saved.id}`);
    for (const [method, path, body] of [
      ['GET', `/user/templates/${saved.id}`],
      ['PATCH', `/user/templates/${saved.id}`, { name: 'x' }],
      ['DELETE', `/user/templates/${saved.id}`],
      ['GET', `/user/templates/${saved.id}/versions`],
    ] as const) {
      assert.equal((await client.call(method, path, body)).status, 404, `${method} ${path}`);
    }
    const left = api.domain.connection.collection('template_versions');
    assert.equal(await left.countDocuments({ templateId: saved.id }), 0);
  });

  it('are not saved over a version that the change was not made from', async () => {
    const { id, versionId } = await save();
    const at = (service: TestApi, content: string) =>
      client.at(service.url).call('PATCH', `/user/templates/${id}`, { content, baseVersionId: versionId });
    const both = await Promise.all([at(api, 'mine'), at(other, 'yours')]);
    const [kept] = both.filter(({ status }) => status === 200);
    const [refused] = both.filter(({ status }) => status === 409);
    assert.equal(refused?.json.code, 'TEMPLATE_CHANGED');
    assert.match(refused.json.message, /version 2 now/);
    const now = await client.expect(200, 'GET', `/user/templates/${id}`);
    assert.deepEqual([now.version, now.content], [2, kept?.json.content]);
    const again = { name: 'letter', baseVersionId: now.versionId };
    assert.equal((await client.expect(200, 'PATCH', `/user/templates/${id}`, again)).version, 3);
    // Without the version that it was made from, a change is made to whatever is there.
    assert.equal((await client.expect(200, 'PATCH', `/user/templates/${id}`, { name: 'note' })).version, 4);
    const nothing = await client.call('PATCH', `/user/templates/${id}`, { baseVersionId: now.versionId });
    assert.deepEqual([nothing.status, nothing.json.code], [400, 'VALIDATION']);
  });

  it('are rejected with every error of the request', async () => {
    const response = await client.call('POST', '/user/templates', {
      content: '',
      sampleData: '{"a":\n x}',
      more: 1,
    });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json.message, [
      'name: is required',
      'content: must have at least 1 character',
      'sampleData: must be a JSON document: Unexpected token in JSON at position 7 (line 2 column 2)',
      'more: is not known',
    ]);
    const { id } = await save();
    for (const [body, error] of [
      [{}, 'body: one of name, content, sampleData, dataSchema, options is required'],
      [null, 'body: must be an object'],
      [[], 'body: must be an object'],
      [{ name: 'x'.repeat(201) }, 'name: must have at most 200 characters'],
    ] as const) {
      const refused = await client.call('PATCH', `/user/templates/${id}`, body);
      assert.equal(refused.status, 400);
      assert.deepEqual(refused.json.message, [error]);
    }
  });

  it('are rejected with the line of a syntax error, and then not saved', async () => {
    const content = '<p>\n{% for x in items %}\n{{ x | money }}\n{% endfor %}';
    const { id } = await save();
    for (const [method, path] of [
      ['POST', '/user/templates'],
      ['PATCH', `/user/templates/${id}`],
      ['POST', '/user/templates/preview'],
    ] as const) {
      const response = await client.call(
        method,
        path,
        path.endsWith('preview') ? { content } : { name: 'x', content },
      );
      assert.equal(response.status, 400);
      assert.equal(response.json.code, 'TEMPLATE_ERROR');
      assert.match(response.json.message, /^Line 3, column \d+: .*money/);
    }
    const { total, templates } = await client.expect(200, 'GET', '/user/templates');
    assert.deepEqual([total, templates[0].version], [1, 1]);
  });

  it('may be as large as the plan allows a request to be', async () => {
    await moveTo('free');
    const content = 'x'.repeat(1024 * 1024);
    const tooLarge = await client.call('POST', '/user/templates', { name: 'x', content });
    assert.equal(tooLarge.status, 413);
    await save({ content: content.slice(0, -100) });
    await moveTo('professional');
    await save({ content });
  });

  it('are rejected when several requests together exceed the size of a version', async () => {
    await moveTo('business');
    const half = 'x'.repeat(9 * 1024 * 1024);
    const { id } = await save({ content: half });
    const path = `/user/templates/${id}`;
    const tooLarge = await client.call('PATCH', path, { sampleData: JSON.stringify(half) });
    assert.deepEqual([tooLarge.status, tooLarge.json.code], [413, 'INPUT_TOO_LARGE']);
    const { version, sampleData } = await client.expect(200, 'GET', path);
    assert.deepEqual([version, sampleData], [1, '{}']);
    await client.expect(200, 'PATCH', path, { sampleData: JSON.stringify('x'.repeat(5 * 1024 * 1024)) });
  });

  it('are listed in pages of bounded size', async () => {
    const content = 'x'.repeat(0.6 * 1024 * 1024);
    for (let n = 0; n < 5; n += 1) await save({ name: `large ${n}`, content });
    const page = await client.expect(200, 'GET', '/user/templates');
    assert.deepEqual([page.total, page.templates.length], [5, 3]);
    const next = await client.expect(200, 'GET', `/user/templates?offset=${page.templates.length}`);
    assert.equal(next.templates.length, 2);
  });

  it('keep concurrent changes, each in its own version', async () => {
    const { id } = await save();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        client
          .at(n % 2 ? api.url : other.url)
          .call('PATCH', `/user/templates/${id}`, n % 2 ? { name: `name ${n}` } : { sampleData: `${n}` }),
      ),
    );
    assert.deepEqual(
      responses.filter(({ status }) => status !== 200).map(({ json }) => json),
      [],
    );
    assert.deepEqual(
      responses.map(({ json }) => json.version).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n + 2),
    );
    const current = await client.expect(200, 'GET', `/user/templates/${id}`);
    assert.equal(current.version, 21);
    assert.match(current.name, /^name \d+$/);
    assert.match(current.sampleData, /^\d+$/);
  });

  it('stay deleted when they are changed at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await save();
      await Promise.all([
        client.call('DELETE', `/user/templates/${id}`),
        ...Array.from({ length: 4 }, () => client.call('PATCH', `/user/templates/${id}`, { name: 'x' })),
      ]);
      assert.equal((await client.get(`/user/templates/${id}`)).status, 404);
      const left = api.domain.connection.collection('template_versions');
      assert.equal(await left.countDocuments({ templateId: id }), 0);
    }
  });

  describe('have versions', () => {
    it('that are listed, read and rolled back to', async () => {
      const first = await save({ sampleData: '{"a":1}' });
      const path = `/user/templates/${first.id}`;
      const second = await client.expect(200, 'PATCH', path, {
        name: 'bill',
        content: '2',
        sampleData: '{}',
      });
      const { versions, ...page } = await client.expect(200, 'GET', `${path}/versions`);
      assert.deepEqual(page, { total: 2, limit: 20, offset: 0 });
      const { email: author } = await client.expect(200, 'GET', '/auth/me');
      const common = { templateId: first.id, author, message: null };
      assert.deepEqual(versions, [
        {
          ...common,
          id: second.versionId,
          versionId: second.versionId,
          version: 2,
          name: 'bill',
          current: true,
          createdAt: second.updatedAt,
        },
        {
          ...common,
          id: first.versionId,
          versionId: first.versionId,
          version: 1,
          name: 'invoice',
          current: false,
          createdAt: first.updatedAt,
        },
      ]);
      assert.deepEqual(await client.expect(200, 'GET', `${path}/versions/${first.versionId}`), {
        ...versions[1],
        content: first.content,
        sampleData: first.sampleData,
      });
      const third = await client.expect(200, 'POST', `${path}/versions/${first.versionId}/rollback`);
      assert.equal(third.version, 3);
      assert.notEqual(third.versionId, first.versionId);
      for (const field of ['name', 'content', 'sampleData']) assert.equal(third[field], first[field]);
      const last = await client.expect(200, 'GET', `${path}/versions?limit=1&offset=2`);
      assert.deepEqual([last.total, last.versions[0].id], [3, first.versionId]);
    });

    it('for the plans that include them', async () => {
      const { id, versionId } = await save();
      await moveTo('starter');
      for (const [method, path] of [
        ['GET', `/user/templates/${id}/versions`],
        ['GET', `/user/templates/${id}/versions/${versionId}`],
        ['POST', `/user/templates/${id}/versions/${versionId}/rollback`],
      ] as const) {
        const response = await client.call(method, path);
        assert.equal(response.status, 403);
        assert.equal(response.json.code, 'PLAN_LIMIT');
      }
      assert.equal((await client.expect(200, 'PATCH', `/user/templates/${id}`, { name: 'x' })).version, 2);
    });
  });

  it('belong to one account alone', async () => {
    const { id, versionId } = await save();
    const stranger = await signUp(api.url);
    const { id: strangerId } = await stranger.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(strangerId, 'professional');
    assert.equal((await stranger.expect(200, 'GET', '/user/templates')).total, 0);
    const own = await stranger.expect(201, 'POST', '/user/templates', { name: 'own', content: 'own' });
    for (const [method, path, body] of [
      ['GET', `/user/templates/${id}`],
      ['PATCH', `/user/templates/${id}`, { name: 'mine' }],
      ['DELETE', `/user/templates/${id}`],
      ['GET', `/user/templates/${id}/versions`],
      ['GET', `/user/templates/${id}/versions/${versionId}`],
      ['POST', `/user/templates/${id}/versions/${versionId}/rollback`],
      ['POST', '/user/templates/preview', { templateId: id }],
      ['GET', `/user/templates/${own.id}/versions/${versionId}`],
      ['POST', `/user/templates/${own.id}/versions/${versionId}/rollback`],
    ] as const) {
      assert.equal((await stranger.call(method, path, body)).status, 404, `${method} ${path}`);
    }
    assert.equal((await client.expect(200, 'GET', `/user/templates/${id}`)).version, 1);
  });

  describe('are rendered', () => {
    let apiKey: string;
    const render = (body: unknown) => callApi(api.url, 'POST', '/v1/pdf', body, { 'x-api-key': apiKey });

    beforeEach(async () => {
      ({ apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'key' }));
    });

    it('in their current version, in a pinned one, and never in one of another template', async () => {
      const first = await save({ content: 'one' });
      await client.expect(200, 'PATCH', `/user/templates/${first.id}`, { content: 'two' });
      const seen: string[] = [];
      api.worker.render = async (_job, { source }) => {
        if (source.mode === 'template') seen.push(source.content);
        return { pages: 1 };
      };
      assert.equal((await render({ templateId: first.id })).status, 200);
      assert.equal((await render({ templateId: first.id, templateVersionId: first.versionId })).status, 200);
      assert.deepEqual(seen, ['two', 'one']);
      const { versionId } = await save();
      assert.equal((await render({ templateId: first.id, templateVersionId: versionId })).status, 404);
    });

    it('as they were when the job was accepted, even if they are deleted before it runs', async () => {
      const { id } = await save({ content: 'kept' });
      const claimed = latch();
      const deleted = latch();
      let content = '';
      api.worker.render = async (_job, { source }) => {
        claimed.open();
        await deleted.opened;
        if (source.mode === 'template') content = source.content;
        return { pages: 1 };
      };
      const rendering = render({ templateId: id });
      await claimed.opened;
      await client.expect(200, 'DELETE', `/user/templates/${id}`);
      deleted.open();
      assert.equal((await rendering).status, 200);
      assert.equal(content, 'kept');
    });
  });
});
