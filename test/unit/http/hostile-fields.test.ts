import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { API_ROUTES } from '../../../src/http/app.ts';
import { errorsOf, wordError } from '../../../src/http/request/field-errors.ts';
import { fieldsOf, type SchemaField } from '../../support/schema-fields.ts';

/**
 * A validation that takes linear time finishes all texts of a field long before. One that takes quadratic time would need
 * minutes for a single one of the longest texts.
 */
const HUNG_MS = 60_000;
/** Lengths of the texts. The longer ones may be rejected by their length, so there are shorter ones as well. */
const CHARACTERS = [20_000, 1_000_000];
const BEGINNINGS = ['', '1', 'a@', 'https://'];
const REPEATED = [
  ' ',
  '\n',
  '0',
  'a',
  '.',
  'a.',
  '<',
  '@',
  ',',
  '/',
  ':',
  '-',
  '%',
  '1 ',
  '{',
  '[',
  '"',
  '\\',
  'é',
];
const ENDS = ['', '!'];
/** Entries of a record, all with invalid names: more than any record may have. */
const BAD_NAMES = 50_000;

interface Checked extends SchemaField {
  readonly check: (value: unknown) => void;
}

function checkedFields(): Checked[] {
  return API_ROUTES.flatMap(({ method, path, params, query, headers, body, bodyErrors }) => {
    const schemas = { params, query, headers, body };
    return Object.entries(schemas).flatMap(([part, schema]) => {
      if (schema === undefined) return [];
      const name = `${method} ${path} ${part}`;
      return [...fieldsOf(schema, name)].map((field) => ({
        ...field,
        check(value: unknown) {
          const given = field.place(value);
          const { error } = schema.safeParse(given, { error: wordError });
          if (error !== undefined) errorsOf(error, part);
          if (part === 'body') bodyErrors?.(given);
        },
      }));
    });
  });
}

interface HostileText {
  readonly name: string;
  readonly text: string;
}

function hostileTexts(characters: number): HostileText[] {
  return BEGINNINGS.flatMap((beginning) =>
    REPEATED.flatMap((part) =>
      ENDS.map((end) => ({
        name: `${characters} × ${JSON.stringify(`${beginning}${part}…${end}`)}`,
        text: beginning + part.repeat(characters / part.length) + end,
      })),
    ),
  );
}

/** Calls `run` in this thread, and aborts it when it hangs, even within a regular expression. */
function assertEnds(run: () => void, doing: () => string): void {
  try {
    runInNewContext('run()', { run }, { timeout: HUNG_MS });
  } catch (error) {
    throw new Error(`It hung at ${doing()}.`, { cause: error });
  }
}

/** A record with this number of entries, all with invalid names. */
function badNames(entries: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: entries }, (_, n) => [`not a name ${n}`, '\n']));
}

describe('The validation of a request', () => {
  const fields = checkedFields();

  it('is tested with every field', () => {
    const paths = fields.map(({ path }) => path);
    for (const known of [
      'post /v1/pdf body.options.margin.top',
      'post /v1/pdf body.options.assetOrigins[]',
      'post /v1/pdf/batch body.items[].options.assetHeaders{name}',
      'post /user/templates/preview body.sampleData',
      'post /auth/register body.email',
      'get /user/invoices query.search',
    ]) {
      assert.ok(paths.includes(known), `${known} is not among ${paths.join('\n')}`);
    }
  });

  it('is fast for long texts in any field', () => {
    const texts = CHARACTERS.flatMap(hostileTexts);
    for (const { path, check } of fields.filter(({ kind }) => kind === 'text')) {
      let current = '';
      assertEnds(
        () => {
          for (const { text, name } of texts) {
            current = name;
            check(text);
          }
        },
        () => `${path} of ${current}`,
      );
    }
  });

  it(`is fast for records with ${BAD_NAMES} invalid names`, () => {
    const record = badNames(BAD_NAMES);
    for (const { path, check } of fields.filter(({ kind }) => kind === 'record'))
      assertEnds(
        () => check(record),
        () => path,
      );
  });

  it('is aborted by this test when it hangs', () => {
    const square = () => /(a+)+$/.test(`${'a'.repeat(100)}!`);
    assert.throws(() => runInNewContext('run()', { run: square }, { timeout: 100 }), /timed out/);
  });
});
