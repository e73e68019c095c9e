import assert from 'node:assert/strict';
import { TemplateRenderer } from '../../../src/tenants/templates/engine/liquid.ts';
import { ParsedTemplates } from '../../../src/tenants/templates/engine/parsed-templates.ts';
import { errorText } from '../../../src/tenants/templates/engine/template-errors.ts';

describe('Liquid as templates speak it', () => {
  const renderer = new TemplateRenderer();
  const render = (source: string, data: object = {}, limits: { maxOutputBytes?: number } = {}): string =>
    renderer.render({
      kind: 'render',
      source,
      data: JSON.stringify(data),
      softTimeoutMs: 2000,
      maxOutputBytes: limits.maxOutputBytes ?? 1_000_000,
    }).html;
  const errorOf = (source: string, data: object = {}, limits: { maxOutputBytes?: number } = {}): string => {
    try {
      render(source, data, limits);
    } catch (thrown) {
      return errorText(thrown);
    }
    throw new Error('The template was expected to fail.');
  };

  it('fills plain and dotted variables, loops and conditions', () => {
    const source =
      '{{ to.name }}:{% for row in rows %}{% if row.due %} {{ row.title }}={{ row.cents | divided_by: 100.0 }}{% endif %}{% endfor %}';
    const rows = [
      { title: 'a', cents: 150, due: true },
      { title: 'b', cents: 1, due: false },
    ];
    assert.equal(render(source, { to: { name: 'Ann' }, rows }), 'Ann: a=1.5');
  });

  it('escapes its output, unless raw is the last filter', () => {
    const data = { x: `<b>&"'` };
    assert.equal(render('{{ x }}', data), '&lt;b&gt;&amp;&#34;&#39;');
    assert.equal(render('{{ x | raw }}', data), data.x);
    assert.equal(render('{{ x | raw | upcase }}', data), '&lt;B&gt;&amp;&#34;&#39;');
    assert.equal(render('{{ list }}', { list: ['<', ['>']] }), '&lt;&gt;');
    assert.equal(
      render('{{ list | raw }}|{{ nil | raw }}|{{ n | raw }}', { list: ['<', [1]], n: 0 }),
      '<1||0',
    );
  });

  it('prints U+FFFD for what a filter has left of a character', () => {
    assert.equal(render("{{ x | split: '' | first }}", { x: '😀' }), '\ufffd');
  });

  it('prints variables that do not exist as nothing', () => {
    assert.equal(render('[{{ missing }}][{{ a.b.c.d }}][{{ a[7] }}]', { a: { b: null } }), '[][][]');
  });

  it('sees the data itself and no properties of JavaScript objects', () => {
    const source =
      '{{ constructor }}{{ a.constructor }}{{ a.__proto__ }}{{ a.toString }}{{ "x".constructor.name }}';
    assert.equal(render(source, { a: {} }), '');
    assert.equal(render('{{ a.constructor }}', { a: { constructor: 'mine' } }), 'mine');
    assert.equal(render('{{ a["__proto__"].x }}', JSON.parse('{"a": {"__proto__": {"x": "own"}}}')), 'own');
    assert.equal(render('{{ x }}'), '', 'nothing was left on a prototype');
  });

  it('keeps nothing from one render to the next', () => {
    const source = '{% increment n %}{{ seen }}{% assign seen = "x" %}{% cycle "a", "b" %}';
    assert.equal(render(source), render(source));
  });

  it('reads dates in their own zone, or UTC', () => {
    assert.equal(
      render('{{ d | date: "%Y-%m-%d %H:%M %z" }}', { d: '2026-01-31T23:30:00-05:00' }),
      '2026-01-31 23:30 -0500',
    );
    assert.equal(render('{{ d | date: "%B %-d" }}', { d: '2026-02-01' }), 'February 1');
  });

  for (const tag of ['{% include "x" %}', '{% render "/etc/passwd" %}', '{% layout "../x" %}']) {
    it(`rejects ${tag}`, () => {
      assert.match(errorOf(`one\n  ${tag}`), /^Line 2, column 3: .* cannot read other files\.$/);
    });
  }

  it('names line and column of errors', () => {
    assert.equal(errorOf('a\n{% foo %}'), 'Line 2, column 1: tag "foo" not found.');
    assert.equal(errorOf('a\nb {{ x | nope }}'), 'Line 2, column 3: undefined filter: nope.');
    assert.match(errorOf('a\n{% if x %}'), /^Line 2, column 1: tag \{% if x %\} not closed\.$/);
    assert.match(errorOf('{{ a '), /^Line 1, column 1: /);
  });

  it('counts output in bytes, captured text included', () => {
    assert.equal(render('{{ x }}', { x: 'é'.repeat(50) }, { maxOutputBytes: 100 }).length, 50);
    assert.match(errorOf('{{ x }}', { x: 'é'.repeat(51) }, { maxOutputBytes: 100 }), /larger than 100 bytes/);
    assert.match(
      errorOf('{% capture c %}{{ x }}{% endcapture %}', { x: 'a'.repeat(101) }, { maxOutputBytes: 100 }),
      /larger/,
    );
  });

  it('stops loops, growth and depth at their limits', () => {
    assert.match(
      errorOf('{% for i in (1..9999999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}'),
      /runs longer|memory/,
    );
    assert.match(
      errorOf('{% assign a = "x" %}{% for i in (1..99) %}{% assign a = a | append: a %}{% endfor %}'),
      /memory/,
    );
    assert.match(errorOf('{% for i in (1..999999999) %}{% endfor %}'), /memory/);
    const [open, close] = ['{% if 1 %}', '{% endif %}'];
    assert.match(errorOf(open.repeat(30_000) + close.repeat(30_000)), /nested too deeply/);
  });
});

describe('Parsed templates', () => {
  it('keeps the most recently used within both bounds', () => {
    const parsed = new ParsedTemplates<string>(3, 10);
    const parses: string[] = [];
    const get = (source: string): string =>
      parsed.get(source, () => {
        parses.push(source);
        return source.toUpperCase();
      });
    for (const source of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) get(source);
    assert.deepEqual(parses, ['a', 'b', 'c', 'd', 'b']);
    assert.equal(parsed.size, 3);
    assert.equal(get('123456789'), '123456789');
    assert.equal(parsed.size, 2, 'room was made for the characters');
    get('12345678901');
    assert.equal(parsed.size, 2, 'what is too long alone is not kept, and takes no room from others');
  });

  it('does not keep what could not be parsed', () => {
    const parsed = new ParsedTemplates<string>(3, 10);
    assert.throws(() =>
      parsed.get('x', () => {
        throw new Error('no');
      }),
    );
    assert.equal(
      parsed.get('x', () => 'now'),
      'now',
    );
  });
});
