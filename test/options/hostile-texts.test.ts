import assert from 'node:assert/strict';
import { renderOptionsSchema } from '../../src/render/options/all/render-options.ts';
import { eventually } from '../support/eventually.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { fieldsOf, type SchemaField } from '../support/schema-fields.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import type { Options } from './support/cases.ts';

/** Texts of options that have a form, with the hostile text in place of the question mark. */
const EMBEDDED: Readonly<Record<string, string>> = {
  '.timezone': 'UTC?',
  '.locale': 'de?',
  '.pageRanges': '1?',
  '.waitForSelector': 'p, [title="?"]',
  '.waitForExpression': '"?" !== 1',
  '.scripts[]': 'document.title = "?"',
  '.styles[]': 'p::after { content: "?" }',
};
/** Options that are read as script or a selector, which the text may make invalid; and what the render then fails with. */
const PARSED: Readonly<Record<string, string>> = {
  '.scripts[]': 'EXCEPTION_THROWN',
  '.waitForExpression': 'CONDITION_TIMEOUT',
  '.waitForSelector': 'SELECTOR_TIMEOUT',
};
const PARSED_TEXTS = ['\0', '\ud800', '\u2028', '\r\n', '__proto__', '😀'];
/**
 * An event that never comes would only be waited for; the origins would keep the headers from being sent; there is no field
 * of that name, and none that takes several values.
 */
const LEFT_OUT = new Set(['.waitForEvent', '.assetOrigins[]', '.fill.values{name}', '.fill.values{}[]']);
/** What options need besides. */
const NEEDED: Options = {
  displayHeaderFooter: true,
  margin: { top: '2cm', bottom: '2cm' },
  cookies: [{ name: 'a', value: 'b', url: 'https://example.com/' }],
  watermark: { text: 'x' },
  assetHeaders: { 'X-A': 'b' },
  forms: true,
};
/** Asks for something with the headers, and has a field to fill in. The egress proxy lets nothing through to the port. */
const DOCUMENT = '<p>x<img src="http://127.0.0.1:9/x.png"><textarea name="name"></textarea>';
const MOST_RENDERS = 60;

interface Item {
  readonly id: string;
  readonly html: string;
  readonly options: Options;
  /** The code of the error that the render may fail with. */
  readonly code?: string;
}

const FIELDS = [...fieldsOf(renderOptionsSchema)].filter(
  ({ kind, path }) => kind === 'text' && !LEFT_OUT.has(path),
);

/** The options with a text in one more field; unchanged if that is rejected. */
function withText(options: Options, { path, place }: SchemaField, hostile: string): Options {
  const text = (EMBEDDED[path] ?? 'x?y').replace('?', () => hostile);
  const more = place(text, options) as Options;
  return renderOptionsSchema.safeParse(more).success ? more : options;
}

/** Each text in all options together that accept it, and in each option that it may make invalid by itself. */
function items(): Item[] {
  const together = HOSTILE_TEXTS.map((hostile, i) => ({
    id: `together-${i}`,
    html: DOCUMENT,
    options: FIELDS.filter(({ path }) => !(path in PARSED)).reduce(
      (options, field) => withText(options, field, hostile),
      NEEDED,
    ),
  }));
  const alone = PARSED_TEXTS.flatMap((hostile, i) =>
    FIELDS.flatMap((field) => {
      const code = PARSED[field.path];
      const options = withText({}, field, hostile);
      return code === undefined ? [] : [{ id: `${field.path}-${i}`, html: DOCUMENT, options, code }];
    }),
  );
  return [...together, ...alone];
}

describe('Hostile texts in options that Chromium gets', () => {
  let service: TestService;
  before(async () => {
    service = await openStandaloneService();
  });
  after(() => service?.stop());

  it('are printed in one attempt, or fail the render at once with the error of the option', async () => {
    const all = items();
    assert.ok(all.length <= MOST_RENDERS, `${all.length} renders`);
    const { client } = await service.newTenant('business');
    const sent = all.map(({ id, html, options }) => ({ id, html, options }));
    const { status, json } = await client.call('POST', '/v1/pdf/batch', { items: sent });
    assert.equal(status, 202, JSON.stringify(json));
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
    let batch: any;
    await eventually('the batch has ended', async () => {
      batch = (await client.call('GET', `/v1/pdf/batch/${json.jobId}`)).json;
      return batch.status === 'completed';
    });
    const problems = all.flatMap(({ id, code, options }, i) => {
      const { status, error, retryAttempt } = batch.items[i];
      const isFine = status === 'completed' || (status === 'failed' && error.code === code);
      if (isFine && retryAttempt === null) return [];
      return [`${id} ${JSON.stringify(options).slice(0, 200)}: ${status} ${error?.message} ${retryAttempt}`];
    });
    assert.deepEqual(problems, []);
  });
});
