import assert from 'node:assert/strict';
import { errorOf, html, rendered } from './support.ts';

const warningsOf = (source: string, data: object = {}) =>
  rendered(source, data, { wantsWarnings: true }).warnings;
const missing = (...names: string[]) => names.map((name) => `${name} is not in the data of the template`);

describe('Names that the data of a template do not have', () => {
  it('are warnings, each once, as far as to the part that is missing', () => {
    const source =
      '{{ totl }} {{ totl }} {{ customer.nmae }} {{ customer.address.city }} {{ "x" | append: sufix }}';
    assert.deepEqual(
      warningsOf(source, { customer: { name: 'Ada' } }),
      missing('totl', 'customer.nmae', 'customer.address', 'sufix'),
    );
    assert.deepEqual(
      warningsOf('{% for line in lines %}{{ line.txt }}{% endfor %}{% for x in rows %}{% endfor %}', {
        lines: [{}, {}],
      }),
      missing('line.txt', 'rows'),
    );
    assert.deepEqual(warningsOf('{{ lines | sum: "prce" }}', { lines: [{ price: 1 }] }), missing('prce'));
  });

  it('are no warnings where they are there, though empty, or made by the template', () => {
    const source =
      '{{ a }}{{ b }}{{ c.d }}{{ e.size }}{{ f | first }}{% assign x = 1 %}{{ x }}{% for i in (1..2) %}{{ i }}{{ forloop.index }}{% endfor %}{% capture y %}{% endcapture %}{{ y }}{% increment n %}{{ n }}';
    assert.deepEqual(warningsOf(source, { a: null, b: '', c: null, e: [], f: [] }), []);
  });

  it('may be asked for in conditions and before default, and not be compared', () => {
    const asks =
      '{% if a %}{% endif %}{% unless a.b %}{% endunless %}{% if b %}{% elsif c and d or not e %}{% endif %}{% if f == nil or blank == g or h != empty %}{% endif %}{{ i | default: "-" }}{{ j | upcase | default: k }}{% assign l = m | default: 0 %}';
    assert.deepEqual(warningsOf(asks), []);
    assert.equal(html(asks, {}, { strictData: true }), '-');
    const lists = '{{ l | where_exp: "x", "x.y == 1" | size }}{{ l | where: "z" | size }}';
    assert.deepEqual(warningsOf(lists, { l: [{ y: 1 }, {}] }), []);
    assert.equal(html(lists, { l: [{ y: 1 }, {}] }, { strictData: true }), '10');
    const compares =
      '{% if a == "DE" and b %}{% endif %}{% if c > 1 %}{% endif %}{% unless "x" contains d.e %}{% endunless %}';
    assert.deepEqual(warningsOf(compares, { d: {} }), missing('a', 'c', 'd.e'));
  });

  it('evaluate conditions as before', () => {
    const source =
      '{% if a and b or c %}1{% endif %}{% if n > 1 and n < 3 %}2{% endif %}{% if x == nil %}3{% endif %}{% if not x %}4{% endif %}{% if list contains 2 %}5{% endif %}';
    assert.equal(html(source, { a: true, b: true, n: 2, list: [1, 2] }), '12345');
    assert.equal(html(source, { a: true, b: false, n: 3, x: 1, list: [] }), '');
  });

  it('are errors with name and line in a strict render', () => {
    assert.equal(
      errorOf('one\n<p>{{ totl }}</p>', {}, { strictData: true }),
      'Line 2, column 7: totl is not in the data of the template.',
    );
    assert.match(
      errorOf('\n\n{% if customer.contry == "DE" %}{% endif %}', { customer: {} }, { strictData: true }),
      /^Line 3, .*customer\.contry is not in the data/,
    );
    assert.match(
      errorOf('{{ lines | sum: "prce" }}', { lines: [{}] }, { strictData: true }),
      /^Line 1, .*prce is not in the data/,
    );
    assert.equal(html('{{ a }}{{ b.c }}', { a: null, b: { c: 1 } }, { strictData: true }), '1');
  });

  it('are one warning when there are many, and nothing is counted when nobody asks', () => {
    const source = (count: number) => Array.from({ length: count }, (_, n) => `{{ name${n} }}`).join('');
    assert.deepEqual(warningsOf(source(10_000)), [
      '10000 names of the template are not in the data, among them name0, name1, name2, name3, name4, name5, name6, name7, name8, name9',
    ]);
    assert.match(warningsOf(source(10_500))[0]!, /^more than 10000 names/);
    assert.equal(warningsOf(source(10)).length, 10);
    assert.deepEqual(rendered(source(100)).warnings, []);
  });
});
