import assert from 'node:assert/strict';
import { inputErrors } from '../../../src/http/work/render-request-schema.ts';
import { sourceOf } from '../../../src/http/work/render-source.ts';
import {
  INPUT_FIELDS,
  INPUT_KINDS,
  type InputMode,
  type JobSource,
  type RequestedInput,
  SOURCE_FIELDS,
} from '../../../src/work/inputs/inputs.ts';
import { savedTemplates } from './saved-templates.ts';

const MARKUP = '<p>{{ name }}</p>';
const ACCOUNT = { accountId: 'account' };
/** A request of each kind, and the source that its job stores. */
const EXAMPLES: Readonly<
  Record<Exclude<InputMode, 'pdf'>, { request: RequestedInput; source: JobSource; markup: string }>
> = {
  html: { request: { html: MARKUP }, source: { mode: 'html', html: MARKUP }, markup: MARKUP },
  url: {
    request: { url: 'https://example.com/' },
    source: { mode: 'url', url: 'https://example.com/' },
    markup: 'https://example.com/',
  },
  template: {
    request: { templateId: 't', templateVersionId: 'v', data: { name: 'Ada' } },
    source: {
      mode: 'template',
      templateId: 't',
      templateVersionId: 'v',
      content: MARKUP,
      data: { name: 'Ada' },
    },
    markup: MARKUP,
  },
};

/** The dependencies of `sourceOf`: an account with the template `t`, and the URLs that were checked. */
function found() {
  const checked: string[] = [];
  return {
    checked,
    checkUrl: (url: string) => void checked.push(url),
    ...savedTemplates((id, version) => (id === 't' && version === 'v' ? MARKUP : undefined)),
  };
}

for (const kind of INPUT_KINDS) {
  describe(`The input ${kind.mode}`, () => {
    const { request, source, markup } = EXAMPLES[kind.mode as keyof typeof EXAMPLES];

    it('has fields that are fields of requests and of sources', () => {
      assert.ok(kind.field in kind.fields);
      for (const name of Object.keys(kind.fields)) assert.ok(name in INPUT_FIELDS, name);
      for (const name of Object.keys(kind.stored)) assert.ok(name in SOURCE_FIELDS, name);
    });

    it('becomes a source with the stored fields', async () => {
      const { source: made } = await sourceOf(request, ACCOUNT, found());
      assert.deepEqual(made, source);
      assert.deepEqual(Object.keys(made), ['mode', ...Object.keys(kind.stored)]);
    });

    it('is required alone, and its other fields only with it', () => {
      assert.deepEqual(inputErrors(request), []);
      const { [kind.field as 'html']: _, ...others } = request;
      const errors = Object.keys(others)
        .toSorted()
        .map((name) => `${name}: may only be given together with ${kind.field}`);
      assert.deepEqual(inputErrors(others), ['one of html, url, templateId is required', ...errors]);
    });

    it('has a text that can be taken out of its source and put back', () => {
      assert.equal(kind.markupOf(source), markup);
      const rest = kind.withMarkup(source, '');
      assert.equal(kind.markupOf(rest), '');
      assert.deepEqual(kind.withMarkup(rest, markup), source);
    });
  });
}

describe('An input', () => {
  it('is one alone', () => {
    const both = { ...EXAMPLES.url.request, ...EXAMPLES.html.request };
    assert.deepEqual(inputErrors(both), ['only one of html, url, templateId may be given, not html and url']);
  });

  it('has its address checked, if it is a URL', async () => {
    const deps = found();
    await sourceOf(EXAMPLES.html.request, ACCOUNT, deps);
    await sourceOf(EXAMPLES.url.request, ACCOUNT, deps);
    assert.deepEqual(deps.checked, ['https://example.com/']);
  });

  it('is NOT_FOUND, if the account does not have its template or its version', async () => {
    await assert.rejects(sourceOf({ templateId: 'x' }, ACCOUNT, found()), {
      code: 'NOT_FOUND',
      message: 'There is no template x.',
    });
    await assert.rejects(sourceOf({ templateId: 't', templateVersionId: 'w' }, ACCOUNT, found()), {
      code: 'NOT_FOUND',
      message: 'There is no template t with a version w.',
    });
  });
});
