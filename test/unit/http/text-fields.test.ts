import assert from 'node:assert/strict';
import { API_ROUTES } from '../../../src/http/app.ts';
import { errorsOf, wordError } from '../../../src/http/request/field-errors.ts';
import {
  HOSTILE_TEXTS,
  isAbout,
  REJECTED_IN_LINES,
  REJECTED_ON_ONE_LINE,
} from '../../support/hostile-texts.ts';
import { fieldsOf } from '../../support/schema-fields.ts';

/** Fields whose texts browsers, template engines and readers of XML or of forms read: they hold any character. */
const DOCUMENTS =
  /^body(?:\.items\[\]|\.source)?\.(?:html|content|sampleData|data(?:\{\}|\{name\})|values\{\}(?:\[\])?|options\.(?:seal\.visible\.html|fill\.values\{\}(?:\[\])?|einvoice\.(?:xml|data(?:\{\}|\{name\}))|styles\[\]|scripts\[\]|waitForSelector|waitForExpression|\w*(?:[hH]eader|[fF]ooter)Template))$/;
/** A JSON Schema, which is read as such: its texts hold any character of JSON. */
const SCHEMA = /^body\.dataSchema(?:\{\}|\{name\})?$/;
/** Fields that are compared with what is stored, by a hash or by the name of a file, and never stored or shown. */
const COMPARED =
  /^body\.(?:password|currentPassword|newPassword|invitation|oneTimeToken|code)$|^query\.(?:token|state|code|error)$|^params\.(?:token|itemId|path\[\])$|^headers\.(?:accept|(?:If-)?Range|Last-Event-ID|\w+-signature)$/;
/** Texts of several lines for people. */
const LINES = /^body\.(?:notes|message|metadata\{\})$/;
/** Values of headers: one may have tabs, the other any character that is no control character. */
const HEADERS = /\.assetHeaders\{\}$/;
const POLICY = /\.csp$/;

/** The characters that the field rejects at least. */
function rejectedIn(path: string): ReadonlySet<string> {
  if (DOCUMENTS.test(path) || SCHEMA.test(path) || COMPARED.test(path)) return new Set();
  if (HEADERS.test(path)) return new Set([...REJECTED_IN_LINES, '\r\n']);
  if (POLICY.test(path)) return new Set(HOSTILE_TEXTS.filter((text) => /[\p{Cc}\u2028\u2029]/u.test(text)));
  return LINES.test(path) ? REJECTED_IN_LINES : REJECTED_ON_ONE_LINE;
}

/**
 * What each text field of the API rejects. A field of a new route is one line of text; one that is more has to be listed
 * above. What becomes of accepted texts is in `test/integration/http/hostile-texts.test.ts`.
 */
describe('The text fields of requests', () => {
  const fields = API_ROUTES.flatMap((route) =>
    (['params', 'query', 'headers', 'body'] as const).flatMap((part) => {
      const schema = route[part];
      if (schema === undefined) return [];
      return [...fieldsOf(schema)]
        .filter(({ kind }) => kind === 'text')
        .map((field) => ({
          ...field,
          route,
          part,
          schema,
          where: `${route.method} ${route.path} ${part}${field.path}`,
        }));
    }),
  );

  it('are found, at any depth', () => {
    for (const known of [
      'post /v1/pdf/batch body.items[].options.cookies[].value',
      'post /v1/pdf/batch body.metadata{name}',
      'get /user/invoices query.search',
      'patch /user/api-keys/:id body.allowedIps[]',
    ])
      assert.ok(
        fields.some(({ where }) => where === known),
        known,
      );
  });

  it('reject what they cannot hold, with their path', () => {
    const accepted: string[] = [];
    for (const { where, part, schema, path, place } of fields) {
      for (const text of rejectedIn(part + path)) {
        for (const given of [text, `x${text}y`, `https://example.com/${text}`, `1${text}`]) {
          const { error } = schema.safeParse(place(given), { error: wordError });
          const errors = error === undefined ? [] : errorsOf(error, part);
          if (!errors.some((each) => isAbout(each, path, given)))
            accepted.push(`${where}: ${JSON.stringify(given)}`);
        }
      }
    }
    assert.deepEqual(accepted, []);
  });

  it('that are documents hold any character', () => {
    for (const { where, part, schema, path, place } of fields) {
      if (!DOCUMENTS.test(part + path) || path.endsWith('sampleData')) continue;
      for (const text of HOSTILE_TEXTS.filter((each) => each.length < 100 && each !== '__proto__')) {
        const { error } = schema.safeParse(place(text), { error: wordError });
        const errors = error === undefined ? [] : errorsOf(error, part);
        const own = errors.filter((each) => isAbout(each, path, text));
        assert.deepEqual(own, [], `${where}: ${JSON.stringify(text)}`);
      }
    }
  });
});
