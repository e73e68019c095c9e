import assert from 'node:assert/strict';
import { itemSources } from '../../../src/http/work/render-source.ts';
import { savedTemplates } from './saved-templates.ts';

const ACCOUNT = { accountId: 'account' };
const MIB = 1024 * 1024;

/** An account with the templates whose ids do not begin with `x`, each with content of this length. */
function account(length = 1) {
  return savedTemplates((id) => (id.startsWith('x') ? undefined : id.repeat(length)));
}

describe('The sources of the items of a batch', () => {
  it('are in the order of the items, and each template is looked up once', async () => {
    const { lookUps, templates, templateEditor } = account();
    const items = [
      { id: '0', templateId: 'a', data: { n: 0 } },
      { id: '1', html: '<p>1</p>' },
      { id: '2', templateId: 'a', data: { n: 2 } },
      { id: '3', templateId: 'a', templateVersionId: 'v' },
      { id: '4', url: 'https://example.com/' },
    ];
    const found = await itemSources(items, ACCOUNT, { templates, templateEditor });
    assert.deepEqual(
      found.map(({ source }) => source),
      [
        { mode: 'template', templateId: 'a', templateVersionId: 'current', content: 'a', data: { n: 0 } },
        { mode: 'html', html: '<p>1</p>' },
        { mode: 'template', templateId: 'a', templateVersionId: 'current', content: 'a', data: { n: 2 } },
        { mode: 'template', templateId: 'a', templateVersionId: 'v', content: 'a', data: {} },
        { mode: 'url', url: 'https://example.com/' },
      ],
    );
    assert.deepEqual(lookUps, ['account a current', 'account a v']);
  });

  it('are rejected with every item whose template the account does not have', async () => {
    const { lookUps, templates, templateEditor } = account();
    const items = [
      { id: 'one', templateId: 'x' },
      { id: 'two', templateId: 'a' },
      { id: 'three', templateId: 'x' },
      { id: 'four', templateId: 'x', templateVersionId: 'v' },
    ];
    const errors = [
      'items[0] ("one"): There is no template x',
      'items[2] ("three"): There is no template x',
      'items[3] ("four"): There is no template x with a version v',
    ];
    await assert.rejects(itemSources(items, ACCOUNT, { templates, templateEditor }), {
      code: 'NOT_FOUND',
      message: errors[0],
      details: errors,
    });
    assert.equal(lookUps.length, 3);
    await assert.rejects(itemSources(items.slice(0, 2), ACCOUNT, { templates, templateEditor }), {
      message: errors[0],
      details: [],
    });
  });

  it('are rejected when their templates are too large together', async () => {
    const items = ['a', 'b', 'c'].map((templateId) => ({ id: templateId, templateId }));
    const { lookUps, templates, templateEditor } = account(6 * MIB);
    assert.equal(
      (await itemSources([...items.slice(0, 2), items[0]!], ACCOUNT, { templates, templateEditor })).length,
      3,
    );
    await assert.rejects(itemSources(items, ACCOUNT, { templates, templateEditor }), {
      code: 'INPUT_TOO_LARGE',
      message: 'The templates of this batch are too large together.',
    });
    assert.equal(lookUps.length, 5);
  });
});
