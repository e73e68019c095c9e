import assert from 'node:assert/strict';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { newMember } from '../accounts/support/member.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const DRAFT = { name: 'invoice', content: '<p>new {{ a }}</p>', sampleData: '{"a":1}' };

describe('The draft of a template', () => {
  let api: TestApi;
  let accountId: string;
  let owner: AccountClient;
  let email: string;
  let path: string;
  let first: { id: string; versionId: string };

  before(async () => {
    api = await openApi();
    api.worker.render = async () => ({ pages: 1 });
  });
  after(() => api.close());
  beforeEach(async () => {
    owner = await signUp(api.url);
    ({ id: accountId, email } = await owner.expect(200, 'GET', '/auth/me'));
    await api.accounts.setPlan(accountId, 'professional');
    first = await owner.expect(201, 'POST', '/user/templates', {
      name: 'invoice',
      content: '<p>{{ a }}</p>',
    });
    path = `/user/templates/${first.id}`;
  });

  const htmlOf = async () =>
    (
      await owner.expect(200, 'POST', '/user/templates/preview', {
        templateId: first.id,
        sampleData: '{"a":1}',
      })
    ).html;
  const storedBytes = async () => api.domain.stored.of(accountId);

  it('changes nothing that is rendered before it is published, with its author and what that says', async () => {
    assert.deepEqual(await owner.expect(200, 'GET', `${path}/draft`), { draft: null });
    const { draft } = await owner.expect(200, 'PUT', `${path}/draft`, DRAFT);
    assert.deepEqual(draft, {
      ...DRAFT,
      ...{ draftId: draft.draftId, updatedAt: draft.updatedAt, dataSchema: null, options: null },
      ...{ baseVersionId: first.versionId, author: email },
    });
    assert.deepEqual(await owner.expect(200, 'GET', `${path}/draft`), { draft });
    assert.equal(await htmlOf(), '<p>1</p>');
    assert.equal((await owner.expect(200, 'GET', path)).version, 1);
    assert.equal((await owner.expect(200, 'GET', `${path}/versions`)).total, 1);
    const rendered = await owner.call('POST', '/user/renders', {
      templateId: first.id,
      templateVersionId: first.id,
    });
    assert.equal(rendered.status, 404);
    const said = { message: 'New greeting', draftId: draft.draftId };
    const published = await owner.expect(200, 'POST', `${path}/draft/publish`, said);
    assert.deepEqual([published.version, published.content], [2, DRAFT.content]);
    assert.equal(await htmlOf(), '<p>new 1</p>');
    assert.deepEqual(await owner.expect(200, 'GET', `${path}/draft`), { draft: null });
    const { versions } = await owner.expect(200, 'GET', `${path}/versions`);
    assert.deepEqual(
      versions.map(({ version, author, message }: Record<string, unknown>) => [version, author, message]),
      [
        [2, email, 'New greeting'],
        [1, email, null],
      ],
    );
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log?action=template.saved&limit=1');
    assert.equal(entries[0].details.message, 'New greeting');
    const back = await owner.expect(200, 'POST', `${path}/versions/${first.versionId}/rollback`);
    const [newest] = (await owner.expect(200, 'GET', `${path}/versions`)).versions;
    assert.deepEqual([back.version, newest.message], [3, 'Roll back to version 1']);
  });

  it('may be unfinished, and is then not published but kept', async () => {
    const unfinished = { ...DRAFT, content: '{% if a %}', sampleData: '{', dataSchema: '[' };
    await owner.expect(200, 'PUT', `${path}/draft`, unfinished);
    const refused = await owner.call('POST', `${path}/draft/publish`, {});
    assert.deepEqual([refused.status, refused.json.code], [400, 'VALIDATION']);
    assert.deepEqual(
      refused.json.message.map((error: string) => error.split(':')[0]),
      ['sampleData', 'dataSchema'],
    );
    await owner.expect(200, 'PUT', `${path}/draft`, { ...unfinished, sampleData: '{}', dataSchema: null });
    const wrong = await owner.call('POST', `${path}/draft/publish`, {});
    assert.deepEqual([wrong.status, wrong.json.code], [400, 'TEMPLATE_ERROR']);
    assert.equal((await owner.expect(200, 'GET', `${path}/draft`)).draft.content, '{% if a %}');
    const secret = { ...DRAFT, options: { cookies: [{ name: 'a', value: 'b', url: 'https://a.example/' }] } };
    assert.equal((await owner.call('PUT', `${path}/draft`, secret)).json.code, 'VALIDATION');
  });

  it('overwrites neither another draft nor another version unseen', async () => {
    const { draft } = await owner.expect(200, 'PUT', `${path}/draft`, { ...DRAFT, baseDraftId: null });
    const again = { ...DRAFT, content: 'second', baseDraftId: draft.draftId };
    const { draft: second } = await owner.expect(200, 'PUT', `${path}/draft`, again);
    for (const baseDraftId of [draft.draftId, null]) {
      const late = await owner.call('PUT', `${path}/draft`, { ...DRAFT, baseDraftId });
      assert.deepEqual([late.status, late.json.code], [409, 'TEMPLATE_CHANGED']);
    }
    const unseen = await owner.call('POST', `${path}/draft/publish`, { draftId: draft.draftId });
    assert.deepEqual([unseen.status, unseen.json.code], [409, 'TEMPLATE_CHANGED']);
    const live = await owner.expect(200, 'PATCH', path, { content: 'live at once', message: 'Hotfix' });
    const outdated = await owner.call('POST', `${path}/draft/publish`, { draftId: second.draftId });
    assert.deepEqual([outdated.status, outdated.json.code], [409, 'TEMPLATE_CHANGED']);
    await owner.expect(200, 'PUT', `${path}/draft`, {
      ...again,
      baseDraftId: second.draftId,
      baseVersionId: live.versionId,
    });
    assert.equal((await owner.expect(200, 'POST', `${path}/draft/publish`, {})).content, 'second');
    const none = await owner.call('POST', `${path}/draft/publish`, {});
    assert.deepEqual([none.status, none.json.code], [404, 'NOT_FOUND']);
  });

  it('of ten people at once is one of theirs, and none is lost unsaid', async () => {
    const puts = Array.from({ length: 10 }, (_, i) =>
      owner.call('PUT', `${path}/draft`, { ...DRAFT, content: `of ${i}`, baseDraftId: null }),
    );
    const statuses = (await Promise.all(puts)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
    assert.equal(statuses.filter((status) => status === 409).length, 9, String(statuses));
  });

  it('takes room of the account, and gives it back', async () => {
    const before = await storedBytes();
    await owner.expect(200, 'PUT', `${path}/draft`, { ...DRAFT, content: 'x'.repeat(50_000) });
    await owner.expect(200, 'PUT', `${path}/draft`, { ...DRAFT, content: 'x'.repeat(10_000) });
    assert.equal(await storedBytes(), before + 10_000 + DRAFT.sampleData.length);
    await owner.expect(200, 'DELETE', `${path}/draft`);
    assert.equal(await storedBytes(), before);
    await owner.expect(200, 'DELETE', `${path}/draft`);
    await owner.expect(200, 'PUT', `${path}/draft`, DRAFT);
    await owner.expect(200, 'DELETE', path);
    assert.equal(await storedBytes(), 0);
    assert.equal((await owner.call('GET', `${path}/draft`)).status, 404);
  });

  it('belongs to one account alone, and may be changed by developers', async () => {
    await owner.expect(200, 'PUT', `${path}/draft`, DRAFT);
    const stranger = await signUp(api.url);
    for (const [method, rest, body] of [
      ['GET', ''],
      ['PUT', '', DRAFT],
      ['DELETE', ''],
      ['POST', '/publish', {}],
    ] as const)
      assert.equal((await stranger.call(method, `${path}/draft${rest}`, body)).status, 404, method);
    const { client: developer, email: theirs } = await newMember(api, accountId, 'developer');
    const { draft } = await developer.expect(200, 'PUT', `${path}/draft`, { ...DRAFT, content: 'theirs' });
    assert.equal(draft.author, theirs);
    await owner.expect(200, 'POST', `${path}/draft/publish`, {});
  });
});
