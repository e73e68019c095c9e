import assert from 'node:assert/strict';
import { z } from 'zod';
import { API_ROUTES } from '../../../src/http/app.ts';
import { faultsOf, wordFault } from '../../../src/http/faults.ts';

/** A check that takes no more milliseconds of the processor is soon enough; the fastest of a few tries counts. */
const SOON_MS = 70;
/** One that takes more, on a slow machine, takes no more than so many times as long as for an eighth of the input: */
const GROWTH = 24;
/** eight times would be in proportion, 64 times its square. And no machine is so slow that it would take longer than this. */
const MOST_MS = 700;
const TRIES = 4;
/** The first one ends what takes the square of it, before the second one would go on for minutes. */
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
  readonly eighth: string;
}

function hostileTexts(characters: number): HostileText[] {
  return BEGINNINGS.flatMap((beginning) =>
    REPEATED.flatMap((part) =>
      ENDS.map((end) => {
        const ofLength = (length: number) => beginning + part.repeat(length / part.length) + end;
        return {
          name: `${beginning}${part}…${end}`,
          text: ofLength(characters),
          eighth: ofLength(characters / 8),
        };
      }),
    ),
  );
}

/** Milliseconds of the processor that the fastest of a few runs took; of one run if that is fast enough. */
function processorMs(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least > SOON_MS; tries++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** Checks what a caller fills in, and that the work for it is bounded: soon done, or in proportion to its length. */
function assertBounded(what: string, check: () => void, checkEighth: () => void): void {
  const took = processorMs(check);
  if (took <= SOON_MS) return;
  const eighth = processorMs(checkEighth);
  assert.ok(
    took <= Math.min(MOST_MS, GROWTH * eighth),
    `${what} took ${took} ms, an eighth of it ${eighth} ms`,
  );
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

  it('ends soon for any long text in any field', () => {
    for (const characters of CHARACTERS) {
      const texts = hostileTexts(characters);
      for (const { path, check } of fields.filter(({ kind }) => kind === 'text')) {
        for (const { text, name, eighth } of texts) {
          const what = `${path} of ${characters} × ${JSON.stringify(name)}`;
          assertBounded(
            what,
            () => check(text),
            () => check(eighth),
          );
        }
      }
    }
  });

  it(`ends soon for records of ${BAD_NAMES} bad names`, () => {
    const record = badNames(BAD_NAMES);
    const eighth = badNames(BAD_NAMES / 8);
    for (const { path, check, kind } of fields) {
      if (kind !== 'record') continue;
      assertBounded(
        path,
        () => check(record),
        () => check(eighth),
      );
    }
  });
});
