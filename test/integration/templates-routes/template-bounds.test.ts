import assert from 'node:assert/strict';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { callApi, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const BOUNDS = { templates: 3, versions: 4 };

describe('the bounds of templates', () => {
  const api = useApi({ templateBounds: BOUNDS, plan: { concurrentRenders: 1 } });
  let client: AccountClient;
  beforeEach(async () => {
    client = await signUp(api.url);
    const { id } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(id, 'professional');
  });

  const create = (content = 'version 1') => client.call('POST', '/user/templates', { name: 'note', content });

  /** A template that has been saved `times` times. */
  async function saved(times: number): Promise<{ path: string; id: string; versionIds: string[] }> {
    const { id, versionId } = (await create()).json;
    const path = `/user/templates/${id}`;
    const versionIds = [versionId];
    for (let n = 2; n <= times; n += 1)
      versionIds.push((await client.expect(200, 'PATCH', path, { content: `version ${n}` })).versionId);
    return { path, id, versionIds };
  }

  it('allow an account a number of templates and no more, until it deletes one', async () => {
    const made = [];
    for (let n = 0; n < BOUNDS.templates; n += 1) made.push((await create()).json.id);
    const refused = await create();
    assert.equal(refused.status, 403);
    assert.deepEqual(
      [refused.json.code, refused.json.message],
      ['TEMPLATE_CAPACITY', 'An account may have 3 templates.'],
    );
    const versions = api.domain.connection.collection('template_versions');
    assert.equal(await versions.countDocuments({ templateId: { $in: made } }), 3);
    // Existing templates can be changed all the same, and other accounts have their own bounds.
    await client.expect(200, 'PATCH', `/user/templates/${made[0]}`, { name: 'letter' });
    const neighbour = await signUp(api.url);
    await neighbour.expect(201, 'POST', '/user/templates', { name: 'own', content: 'own' });
    await client.expect(200, 'DELETE', `/user/templates/${made[1]}`);
    assert.equal((await create()).status, 201);
    assert.equal((await create()).status, 403);
  });

  it('keep the latest versions under concurrent saves', async () => {
    const { path, versionIds } = await saved(3);
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => client.expect(200, 'PATCH', path, { name: `${n}` })),
    );
    const { total, versions } = await client.expect(200, 'GET', `${path}/versions`);
    assert.equal(total, BOUNDS.versions);
    // A save that was overtaken by as many as are kept has been repeated under another number.
    const { version: last } = await client.expect(200, 'GET', path);
    assert.ok(last >= 11, `${last}`);
    assert.deepEqual(
      versions.map(({ version, current }: { version: number; current: boolean }) => [version, current]),
      [
        [last, true],
        [last - 1, false],
        [last - 2, false],
        [last - 3, false],
      ],
    );
    assert.equal((await client.get(`${path}/versions/${versionIds[0]}`)).status, 404);
  });

  it('allow a rollback to the oldest version that is kept, and to none before it', async () => {
    const { path, versionIds } = await saved(5);
    const [gone, oldest] = versionIds;
    assert.equal((await client.call('POST', `${path}/versions/${gone}/rollback`)).status, 404);
    const anew = await client.expect(200, 'POST', `${path}/versions/${oldest}/rollback`);
    assert.deepEqual([anew.version, anew.content], [6, 'version 2']);
  });

  it('do not affect a job that was accepted with a version that is deleted since', async () => {
    const { apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    const render = (body: object) => callApi(api.url, 'POST', '/v1/pdf', body, { 'x-api-key': apiKey });
    const first = latch();
    const rendered: string[] = [];
    api.worker.render = async (_job, { source }) => {
      if (source.mode === 'html') await first.opened;
      if (source.mode === 'template') rendered.push(source.content);
      return { pages: 1 };
    };
    const { id, path, versionIds } = await saved(1);
    const pinned = { templateId: id, templateVersionId: versionIds[0] };
    // It keeps the only slot, so the next one waits.
    await render({ html: 'x', executionMode: 'async' });
    const waiting = await render({ ...pinned, executionMode: 'async' });
    assert.equal(waiting.status, 202);
    for (let n = 2; n <= 6; n += 1) await client.expect(200, 'PATCH', path, { content: `version ${n}` });
    assert.equal((await render(pinned)).status, 404);
    first.open();
    await eventually('it is rendered', () => rendered.length === 1);
    assert.deepEqual(rendered, ['version 1']);
  });
});
