import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { API_ROUTES } from '../../../src/http/app.ts';
import { faultsOf, wordFault } from '../../../src/http/faults.ts';

/**
 * A check whose work is in proportion to what it is given is through with all texts of a field long before. One that takes the
 * square of the length would need minutes for a single one of the longest.
 */
const HUNG_MS = 60_000;
/** Shorter ones as well, for those that are refused by their length alone are not looked at any more. */
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
/** More than anything of a few entries may have, of names that nothing takes. */
const BAD_NAMES = 50_000;

/** Something of a request's that a caller fills in, as the request that has nothing else. */
type Place = (value: unknown) => unknown;

interface Field {
  readonly kind: 'text' | 'record';
  readonly path: string;
  readonly place: Place;
}

/** The fields of texts and records of a schema, however deep. */
function* fieldsOf(schema: unknown, path: string, place: Place): Generator<Field> {
  if (schema instanceof z.ZodObject) {
    for (const [name, inner] of Object.entries(schema.shape))
      yield* fieldsOf(inner, `${path}.${name}`, (value) => place({ [name]: value }));
  } else if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    yield* fieldsOf(schema.unwrap(), path, place);
  } else if (schema instanceof z.ZodArray) {
    yield* fieldsOf(schema.element, `${path}[]`, (value) => place([value]));
  } else if (schema instanceof z.ZodPipe) {
    yield* fieldsOf(schema.in instanceof z.ZodTransform ? schema.out : schema.in, path, place);
  } else if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) yield* fieldsOf(option, path, place);
  } else if (schema instanceof z.ZodRecord) {
    yield { kind: 'record', path, place };
    yield* fieldsOf(schema.valueType, `${path}{}`, (value) => place({ name: value }));
    yield* fieldsOf(schema.keyType, `${path}{name}`, (value) => place({ [String(value)]: 'x' }));
  } else if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
    yield { kind: 'text', path, place };
  }
}

interface Checked extends Field {
  readonly check: (value: unknown) => void;
}

function checkedFields(): Checked[] {
  return API_ROUTES.flatMap(({ method, path, params, query, headers, body, bodyFaults }) => {
    const parts = { params, query, headers, body };
    return Object.entries(parts).flatMap(([part, schema]) => {
      if (schema === undefined) return [];
      const name = `${method} ${path} ${part}`;
      return [...fieldsOf(schema, name, (value) => value)].map((field) => ({
        ...field,
        check(value: unknown) {
          const given = field.place(value);
          const { error } = schema.safeParse(given, { error: wordFault });
          if (error !== undefined) faultsOf(error, part);
          if (part === 'body') bodyFaults?.(given);
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

/** Runs it on this thread, and ends it when it hangs, even within a regular expression. */
function assertEnds(run: () => void, doing: () => string): void {
  try {
    runInNewContext('run()', { run }, { timeout: HUNG_MS });
  } catch (error) {
    throw new Error(`It hung at ${doing()}.`, { cause: error });
  }
}

/** So many entries, none of which has a name that anything takes. */
function badNames(entries: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: entries }, (_, n) => [`not a name ${n}`, '\n']));
}

describe('the check of a request', function () {
  this.timeout(120_000);
  const fields = checkedFields();

  it('knows its fields', () => {
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

  it('ends for any long text in any field', () => {
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

  it(`ends for records of ${BAD_NAMES} bad names`, () => {
    const record = badNames(BAD_NAMES);
    for (const { path, check } of fields.filter(({ kind }) => kind === 'record'))
      assertEnds(
        () => check(record),
        () => path,
      );
  });

  it('is ended when it hangs', () => {
    const square = () => /(a+)+$/.test(`${'a'.repeat(100)}!`);
    assert.throws(() => runInNewContext('run()', { run: square }, { timeout: 100 }), /timed out/);
  });
});
