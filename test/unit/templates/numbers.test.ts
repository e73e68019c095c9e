import assert from 'node:assert/strict';
import { TemplateRenderer } from '../../../src/tenants/templates/engine/liquid.ts';
import { errorText } from '../../../src/tenants/templates/engine/template-errors.ts';
import { errorOf, html } from './support.ts';

describe('Numbers in templates', () => {
  const money = '{{ 1234567.5 | money: "EUR" }} {{ 59.9 | money: "JPY" }}';
  const others = '{{ 1234567.5 | number: 2 }} {{ 0.085 | percent }} {{ -3 | number }}';

  for (const [locale, amounts, numbers] of [
    [undefined, '€1,234,567.50 ¥60', '1,234,567.50 8.5% -3'],
    ['en-US', '€1,234,567.50 ¥60', '1,234,567.50 8.5% -3'],
    ['de-DE', '1.234.567,50_€ 60_¥', '1.234.567,50 8,5_% -3'],
    ['fr-FR', '1_234_567,50_€ 60_JPY', '1_234_567,50 8,5_% -3'],
    ['de-CH', 'EUR_1&#39;234&#39;567.50 ¥_60', '1&#39;234&#39;567.50 8.5% -3'],
    ['ja-JP', '€1,234,567.50 ￥60', '1,234,567.50 8.5% -3'],
    ['tlh', '€1,234,567.50 ¥60', '1,234,567.50 8.5% -3'],
  ] as const) {
    it(`are in the language of the document: ${locale ?? 'none given'}`, () => {
      // The apostrophe of Swiss numbers differs between versions of ICU.
      const plain = (text: string) => text.replace(/’/g, '&#39;');
      assert.equal(plain(html(money, {}, { locale })), amounts);
      assert.equal(plain(html(others, {}, { locale })), numbers);
    });
  }

  it('are in the language that the template names, in order or by name', () => {
    const source =
      '{{ n | money: "eur", "de-DE" }} {{ n | money: currency: "EUR", locale: "de-DE" }} {{ n | number: 1, "de-DE" }} {{ n | percent: 1, "de-DE" }} {{ n | money: "EUR", digits: 3 }}';
    assert.equal(
      html(source, { n: 1234.56 }, { locale: 'fr-FR' }),
      '1.234,56_€ 1.234,56_€ 1.234,6 123.456,0_% 1_234,560_€',
    );
  });

  it('have the decimals of their currency, rounded half away from zero, and no negative zero', () => {
    const of = (amount: unknown, currency = 'USD') => html(`{{ n | money: "${currency}" }}`, { n: amount });
    assert.equal(of(59.9), '$59.90');
    assert.equal(of('59.9'), '$59.90');
    assert.equal(of(1.005), '$1.01');
    assert.equal(of(-2.675), '-$2.68');
    assert.equal(of(-0.001), '$0.00');
    assert.equal(of(1.5, 'KWD'), 'KWD_1.500');
    assert.equal(of('12345678901234567.89'), '$12,345,678,901,234,567.89');
    assert.equal(of(null), '');
    assert.equal(of(''), '');
  });

  it('are calculated exactly', () => {
    for (const [expression, result] of [
      ['0.1 | plus: 0.2', '0.3'],
      ['100 | times: 1.19', '119'],
      ['1.1 | times: 1.1', '1.21'],
      ['0.3 | minus: 0.1', '0.2'],
      ['0.3 | divided_by: 0.1', '3'],
      ['0.3 | modulo: 0.1', '0'],
      ['-7 | modulo: 3', '2'],
      ['1.005 | round: 2', '1.01'],
      ['-2.5 | round', '-3'],
      ['1234 | round: -2', '1200'],
      ['4.1 | ceil', '5'],
      ['-4.1 | floor', '-5'],
      ['-4.5 | abs', '4.5'],
      ['2 | at_least: 5', '5'],
      ['2 | at_most: 5', '2'],
      ['"9007199254740993" | plus: 1', '9007199254740994'],
      ['"12345678901234567.89" | plus: "0.02"', '12345678901234567.91'],
      ['"12345678901234567.89" | minus: 0.89', '12345678901234567'],
      ['" 5 " | plus: 1', '6'],
      ['"1e3" | plus: 1', '1001'],
    ]) {
      assert.equal(html(`{{ ${expression} }}`), result, expression);
    }
    const rows = [{ p: 0.1 }, { p: '0.2' }, { p: 0.3 }, {}, { p: null }];
    assert.equal(html('{{ rows | sum: "p" }}', { rows }), '0.6');
    assert.equal(html('{{ list | sum }}', { list: [0.1, 0.2, 0.3] }), '0.6');
  });

  it('print as before where a binary number was right', () => {
    for (const [expression, result] of [
      ['10 | divided_by: 3', '3.3333333333333335'],
      ['10 | divided_by: 3 | times: 3', '10'],
      ['1 | divided_by: 3', '0.3333333333333333'],
      ['7 | divided_by: 2, true', '3'],
      ['10 | divided_by: 3 | times: 3 | floor', '10'],
      ['0.1 | divided_by: 3 | times: 3 | times: 0.05 | round: 3', '0.005'],
      ['0.30000000000000004 | plus: 1', '1.3'],
      ['huge | times: 2', '2e+300'],
      ['nothing | plus: 1', '1'],
      ['true | plus: 1', '2'],
      ['10.00', '10'],
    ]) {
      assert.equal(html(`{{ ${expression} }}`, { huge: 1e300 }), result, expression);
    }
    const compound =
      '{% assign x = 100 %}{% for i in (1..360) %}{% assign x = x | times: 1.0041 %}{% endfor %}{{ x | round: 6 }}';
    assert.equal(html(compound), (100 * 1.0041 ** 360).toFixed(6));
    const third = '{% assign x = 10 | divided_by: 3 | times: 3 %}';
    assert.equal(
      html(`${third}{% if x == 10 %}same{% endif %}{% if x >= 10 %} not less{% endif %}`),
      'same not less',
    );
  });

  it('sum up as integers of cents do, and multiply as integers do', () => {
    // A generator of Lehmer: the same amounts in every run.
    let state = 20_261_128;
    const next = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let round = 0; round < 200; round += 1) {
      const cents = Array.from({ length: 30 }, () => BigInt(next(2_000_000_000) - 1_000_000_000));
      const list = cents.map((amount) => Number(amount) / 100);
      const sum = cents.reduce((all, amount) => all + amount, 0n);
      assert.equal(html('{{ list | sum | times: 100 }}', { list }), String(sum));
      const factor = BigInt(next(1_000_000));
      const product = cents[0]! * factor;
      const data = { a: Number(cents[0]) / 100, b: Number(factor) / 10_000 };
      assert.equal(html('{{ a | times: b | times: 1000000 }}', data), String(product));
    }
  });

  it('beyond 2^53 keep their digits', () => {
    const data = `{"id": 9007199254740993, "ids": [12345678901234567890, -12345678901234567890, 12345678901234567890],
      "text": "12345678901234567890 \\"12345678901234567890\\\\", "exact": 9007199254740991, "float": 12345678901234567890.5,
      "long": ${'9'.repeat(500)}}`;
    assert.equal(
      html('{{ id }} {{ ids[1] }} {{ exact }}', data),
      '9007199254740993 -12345678901234567890 9007199254740991',
    );
    assert.equal(
      html('{{ id | plus: 1 }} {{ id | append: "x" }}', data),
      '9007199254740994 9007199254740993x',
    );
    assert.equal(
      html('{{ ids | json }}', data),
      '[12345678901234567890,-12345678901234567890,12345678901234567890]',
    );
    assert.equal(html('{{ ids | uniq | size }} {{ ids | sort | first }}', data), '2 -12345678901234567890');
    assert.equal(html('{% if id == 9007199254740993 and id > 5 %}yes{% endif %}', data), 'yes');
    assert.equal(html('{{ text }}', data), '12345678901234567890 &#34;12345678901234567890\\');
    assert.equal(html('{{ long }}', data), '9'.repeat(500));
    assert.equal(html('[{{ id.digits }}{{ id.size }}{{ id.constructor }}]', data), '[]');
  });

  it('are refused where they are none', () => {
    for (const [expression, message] of [
      [
        '"1,234.50" | plus: 1',
        /^Line 2, column 1: the filter plus .*"1,234.50" is none: send it without sep/,
      ],
      ['"1.234,50" | times: 1', /"1.234,50" is none: send it without sep/],
      ['"abc" | minus: 1', /the filter minus takes numbers, and "abc" is none\.$/],
      ['1 | plus: "abc"', /the filter plus takes numbers, and "abc" is none\.$/],
      ['"0x10" | plus: 1', /"0x10" is none/],
      ['"Infinity" | plus: 1', /"Infinity" is none/],
      ['list | sum', /the filter sum takes numbers, and "1,5" is none/],
      ['customer | money: "EUR"', /the filter money takes numbers, and an object \(name, city\) is none/],
      ['list | number', /the filter number takes numbers, and a list is none/],
      ['true | money: "EUR"', /and true is none/],
      ['1 | divided_by: 0', /cannot divide by 0/],
      ['1 | modulo: 0', /cannot divide by 0/],
      ['1 | money: nothing', /needs a currency, as in money: "EUR"/],
      ['1 | money: "XYZ1"', /"XYZ1" is not the code of a currency/],
      ['1 | money: "ABC"', /"ABC" is not the code of a currency/],
      ['1 | money: customer', /an object \(name, city\) is not the code of a currency/],
      ['1 | money: "EUR", "xx-YY"', /"xx-YY" is not a language tag that is known/],
      ['1 | number: 2, "de_DE"', /"de_DE" is not a language tag/],
      ['1 | number: 101', /digits must be an integer from 0 to 100, not 101/],
      ['1 | round: 1.5', /decimals must be an integer from -100 to 100, not 1.5/],
    ] as const) {
      const data = { customer: { name: 'Ada', city: 'Wien' }, list: ['1,5'] };
      assert.match(errorOf(`one\n{{ ${expression} }}`, data), message, expression);
    }
  });

  it('are no amounts without a currency, which is noticed when a template is saved', () => {
    assert.throws(
      () => new TemplateRenderer().check('one\n{% if x %}{{ x | money }}{% endif %}'),
      (error) => {
        assert.equal(
          errorText(error),
          'Line 2, column 11: the filter money needs a currency, as in money: "EUR".',
        );
        return true;
      },
    );
  });

  it('of any size take bounded work', () => {
    for (const huge of [
      '1e999999999',
      '1e-999999999',
      '1e401',
      `${'9'.repeat(801)}`,
      `0.${'1'.repeat(900)}`,
    ]) {
      assert.match(errorOf('{{ n | plus: 1 }}', { n: huge }), /is none/);
      assert.match(errorOf('{{ n | money: "EUR" }}', { n: huge }), /is none/);
    }
    const squares =
      '{% assign x = n %}{% for i in (1..2000) %}{% assign x = x | times: x %}{% endfor %}{{ x }}';
    assert.match(errorOf(squares, { n: 12345 }), /a number of more than 400 digits/);
    assert.equal(html(squares, { n: 0.5 }), '0');
    assert.match(errorOf(squares, { n: 1.0000000001 }), /a number of more than 400 digits/);
  });
});
