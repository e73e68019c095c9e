import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const FORM = `<!doctype html><html lang="en"><title>Order</title><h1>Order</h1>
  <label>Name <input name="name" maxlength="20"></label> <label>Count <input name="count" type="number"></label>
  <label><input type="checkbox" name="gift"> Gift</label>
  <label><input type="radio" name="size" value="S" checked> S</label> <label><input type="radio" name="size" value="L"> L</label>
  <label>Colour <select name="colour"><option value="r">Red<option value="b">Blue</select></label>`;
const VALUES = { name: 'Łukasz', count: 3, gift: true, size: 'L', colour: 'b' };
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field ${i}`, '']));

export const cases: OptionCases = {
  accepted: [
    {},
    { values: {} },
    { flatten: true },
    { values: { a: 'x'.repeat(100_000), b: 1.5, c: false, d: ['x', 'y'], e: null } },
    { values: many(2000) },
  ],
  refused: [
    [{ fill: { values: { a: 'x'.repeat(100_001) } } }, 'fill.values.a', /./],
    [{ fill: { values: { a: { b: 1 } } } }, 'fill.values.a', /./],
    [{ fill: { values: many(2001) } }, 'fill.values', /must have 2000 values at most/],
    [{ fill: { flatten: 'yes' } }, 'fill.flatten', /./],
    [{ fill: { fields: {} } }, 'fill.fields', /is not known/],
  ],
  effects: [
    {
      title: 'fields have the values that they are given, and can still be changed',
      html: FORM,
      options: { forms: true, fill: { values: VALUES } },
      others: { metadata: { title: 'T' }, delayMs: 20, conformance: { pdfa: '2a', pdfua: true } },
      proof: async (printed) => {
        const { fields, problems } = await readByOthers(printed);
        assert.deepEqual(problems, []);
        assert.deepEqual(fields.map(({ name, values }) => [name, ...values]).toSorted(), [
          ['colour', 'b'],
          ['count', '3'],
          ['gift', '/on'],
          ['name', 'Łukasz'],
          ['size', '/L'],
          ['size', '/L'],
        ]);
      },
    },
    {
      title: 'flattened fields are a part of the page, and nothing is left to fill in',
      html: FORM,
      options: { forms: true, fill: { values: VALUES, flatten: true } },
      proof: async (printed) => {
        const { fields, text } = await readByOthers(printed);
        assert.deepEqual(fields, []);
        for (const value of ['Łukasz', '3', 'Blue']) assert.ok(text[0]!.includes(value), text[0]);
        assert.doesNotMatch(text[0]!, /Red/);
        assert.match(printed.pages[0]!.text, /Łukasz/);
      },
    },
  ],
  failures: [
    {
      title: 'by names of fields that the PDF does not have',
      html: FORM,
      options: { forms: true, fill: { values: { Name: 'x', 'a.b': 'y' } } },
      code: 'FORM_FIELD_UNKNOWN',
      message: /The PDF has no field "Name", "a\.b": it has "name", "count", "gift", "size", "colour"\./,
    },
    {
      title: 'by values that fields do not take, which are all named',
      html: FORM,
      options: {
        forms: true,
        fill: {
          values: { name: 'x'.repeat(21), gift: 'perhaps', size: 'M', colour: ['r', 'b'], count: true },
          flatten: true,
        },
      },
      code: 'FORM_VALUE_INVALID',
      message:
        /"name" takes 20 characters at most, and "x+" has 21; "gift" cannot be "perhaps": it takes true, false or "on"; "size" cannot be "M": it takes "S", "L"; "colour" takes one value, and not 2; "count" is a text, and cannot be true\./,
    },
    {
      title: 'by a document without fields',
      html: '<p>x',
      options: { fill: { values: { a: 1 } } },
      code: 'FORM_FIELD_UNKNOWN',
      message: /no field "a": it has none/,
    },
  ],
};
