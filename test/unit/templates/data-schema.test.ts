import assert from 'node:assert/strict';
import { DataSchemas } from '../../../src/tenants/templates/engine/schema/data-schema.ts';
import { DataSchemaError } from '../../../src/tenants/templates/engine/schema/schema-path.ts';

describe('JSON Schemas of data', () => {
  const schemas = new DataSchemas();
  const errorsOf = (schema: unknown, data: unknown) =>
    schemas.errorsOf(JSON.stringify(schema), JSON.stringify(data));
  const problemOf = (schema: unknown): string | undefined => {
    try {
      schemas.check(JSON.stringify(schema));
      return undefined;
    } catch (error) {
      assert.ok(error instanceof DataSchemaError, String(error));
      return error.message;
    }
  };

  it('say what is wrong, and where', () => {
    for (const [schema, data, errors] of [
      [{ type: 'object' }, {}, []],
      [{ required: ['a.b'] }, {}, ['data.a.b: is required']],
      [
        { properties: { a: { type: ['number', 'null'] } } },
        { a: 'x' },
        ['data.a: must be of type number, null, not string'],
      ],
      [
        { properties: { a: {} }, additionalProperties: false },
        { a: 1, b: 2 },
        ['data.b: is not known to the schema of the data'],
      ],
      [{ properties: { a: { items: { minimum: 3 } } } }, { a: [3, 2] }, ['data.a[1]: 2 is less than 3']],
      [
        { properties: { 'a/b': { maxLength: 1 } } },
        { 'a/b': 'xx' },
        ['data.a/b: string is too long (2 > 1)'],
      ],
      [
        { if: { not: { required: ['vat'] } }, else: { required: ['country'] } },
        { vat: 1 },
        ['data.country: is required'],
      ],
      [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['data: instance has "a" but does not have "b"']],
      [
        { properties: { d: { format: 'date' } } },
        { d: '2026-02-30' },
        ['data.d: string does not match format "date"'],
      ],
      [{ properties: { id: { type: 'integer' } } }, JSON.parse('{"id": 12345678901234567890}'), []],
      [false, {}, ['data: is not known to the schema of the data']],
    ] as const)
      assert.deepEqual(errorsOf(schema, data), errors, JSON.stringify(schema));
    const many = errorsOf({ properties: { a: { items: { type: 'string' } } } }, { a: Array(10_000).fill(1) });
    assert.equal(many.length, 20);
  });

  it('may be recursive where the data end', () => {
    const tree = {
      type: 'object',
      properties: { children: { items: { $ref: '#' } }, next: { $ref: '#/properties/children/items' } },
      required: ['name'],
    };
    assert.equal(problemOf(tree), undefined);
    assert.deepEqual(errorsOf(tree, { name: 'a', children: [{ name: 'b', children: [{}] }] }), [
      'data.children[0].children[0].name: is required',
    ]);
  });

  it('are refused when they are none, with the path', () => {
    for (const [schema, problem] of [
      [true, undefined],
      [
        { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'x', 'x-own': { any: 1 } },
        undefined,
      ],
      [{ $defs: { a: { $anchor: 'money' } }, properties: { p: { $ref: '#money' } } }, undefined],
      [{ properties: { constructor: { type: 'string' }, id: {}, extends: {} } }, undefined],
      [[], /^dataSchema: must be a schema/],
      [{ $schema: 'http://json-schema.org/draft-03/schema#' }, /^dataSchema\.\$schema: must be/],
      [{ $schema: 'http://json-schema.org/draft-07/schema#' }, /^dataSchema\.\$schema: must be/],
      [
        { properties: { a: { divisibleBy: 2 } } },
        /^dataSchema\.properties\.a\.divisibleBy: .* use multipleOf$/,
      ],
      [{ $dynamicRef: '#a' }, /^dataSchema\.\$dynamicRef: .* use \$ref$/],
      [{ allOf: [{ items: [{}] }] }, /^dataSchema\.allOf\[0\]\.items: .* prefixItems$/],
      [{ exclusiveMinimum: true }, /^dataSchema\.exclusiveMinimum: must be a number$/],
      [{ minLength: -1 }, /^dataSchema\.minLength: must be an integer/],
      [{ anyOf: [] }, /^dataSchema\.anyOf: must be a list of schemas$/],
      [{ pattern: '(' }, /the pattern "\(" is not a regular expression$/],
      [{ patternProperties: { '[': {} } }, /the pattern "\[" is not a regular expression$/],
      [{ $ref: 'https://example.com/s.json' }, /^dataSchema\.\$ref: may only name a part of this schema/],
      [{ $ref: 'file:///etc/passwd' }, /^dataSchema\.\$ref: may only name a part of this schema/],
      [{ $ref: '#/$defs/none' }, /^dataSchema\.\$ref: there is no schema at "#\/\$defs\/none"$/],
      [{ $ref: '#/__proto__' }, /there is no schema/],
      [
        { properties: { a: { $id: 'https://example.com/' } } },
        /^dataSchema\.properties\.a\.\$id: may only be at the top/,
      ],
      [{ $ref: '#' }, /^dataSchema: refers to itself without end/],
      [
        { $defs: { a: { anyOf: [{}, { $ref: '#/$defs/b' }] }, b: { if: { $ref: '#/$defs/a' } } } },
        /refers to itself without end/,
      ],
      [
        { properties: { a: { dependentSchemas: { x: { $ref: '#/properties/a' } } } } },
        /refers to itself without end/,
      ],
    ] as const) {
      const found = problemOf(schema);
      if (problem === undefined) assert.equal(found, undefined, JSON.stringify(schema));
      else assert.match(found ?? '', problem, JSON.stringify(schema));
    }
  });
});
