import assert from 'node:assert/strict';
import { errorOf, html } from './support.ts';

describe('Texts, lists and objects in templates', () => {
  it('break lines with newline_to_br, and escape everything else', () => {
    const a = 'Street 1\n1010 Wien <b>';
    const printed = 'Street 1<br />\n1010 Wien &lt;b&gt;';
    for (const source of [
      '{{ a | newline_to_br }}',
      '{% echo a | newline_to_br %}',
      '{% assign b = a | newline_to_br %}{{ b }}',
      '{{ a | escape | newline_to_br }}',
      '{{ a | escape | newline_to_br | raw }}',
      '{{ a | strip | newline_to_br }}',
    ])
      assert.equal(html(source, { a }), printed, source);
    assert.equal(html('{{ a | newline_to_br | raw }}', { a }), 'Street 1<br />\n1010 Wien <b>');
    assert.equal(html('{{ a | newline_to_br | size }}', { a: 'x\ny' }), '9');
    assert.equal(html('[{{ nothing | newline_to_br }}]'), '[]');
  });

  it('are JSON that no text can end in a script, and escaped JSON elsewhere', () => {
    const data = { d: { x: '</script>&"\u2028' } };
    const inScript = '{"x":"\\u003c/script\\u003e\\u0026\\"\\u2028"}';
    const inText = '{&#34;x&#34;:&#34;&lt;/script&gt;&amp;\\&#34;\u2028&#34;}';
    assert.equal(
      html('<script>var d = {{ d | json }};</script>', data),
      `<script>var d = ${inScript};</script>`,
    );
    assert.equal(
      JSON.parse(html('<SCRIPT type="application/json">{{ d | json }}', data).slice(32)).x,
      data.d.x,
    );
    assert.equal(
      html('<script data-a="{{ 1 }}>">{% if d %}{% echo d | json %}{% endif %}</script>', data),
      `<script data-a="1>">${inScript}</script>`,
    );
    assert.equal(
      html('<script>{% assign j = d | json %}{{ j }}</script>', data),
      `<script>${inScript}</script>`,
    );
    assert.equal(
      html('<p title="{{ d | json }}">{{ d | json }}</p>', data),
      `<p title="${inText}">${inText}</p>`,
    );
    assert.equal(html('<script></script>{{ d | json }}', data), `<script></script>${inText}`);
    assert.equal(
      html('<script title="{{ d | json }}"></script>', data),
      `<script title="${inText}"></script>`,
    );
    assert.equal(html('{{ d | json | raw }}', data), inScript);
    assert.equal(html('<script>var d = {{ nothing | json }};</script>'), '<script>var d = null;</script>');
    assert.equal(html('<script>{{ d.x }}</script>', { d: { x: '<' } }), '<script>&lt;</script>', 'as before');
  });

  it('are errors where an object would be printed as [object Object]', () => {
    const data = { customer: { name: 'Ada', city: 'Wien' }, lines: [{ text: 'Paper' }], words: ['a', ['b']] };
    const object =
      'an object (name, city) cannot be printed as a text: name one of its fields, or use the filter json.';
    assert.equal(errorOf('one\n {{ customer }}', data), `Line 2, column 2: ${object}`);
    assert.equal(errorOf('{{ customer | raw }}', data), `Line 1, column 1: ${object}`);
    assert.equal(errorOf('{% echo customer %}', data), `Line 1, column 1: ${object}`);
    assert.equal(
      errorOf('{{ "x" | append: customer }}', data),
      `Line 1, column 1: the filter append takes texts: ${object}`,
    );
    for (const source of [
      '{{ lines }}',
      '{{ lines | join }}',
      '{{ lines | raw }}',
      '{{ lines | newline_to_br }}',
    ])
      assert.match(errorOf(source, data), /an object \(text\) cannot be printed/, source);
    assert.equal(html('{{ words }}{{ lines | size }}{{ lines | map: "text" | join }}', data), 'ab1Paper');
    assert.equal(
      html('{% for pair in customer %}{{ pair[0] }}={{ pair[1] }};{% endfor %}', data),
      'name=Ada;city=Wien;',
    );
  });
});
