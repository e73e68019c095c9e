import assert from 'node:assert/strict';
import {
  isRawNumber,
  parseKeepingIntegers,
  rawNumber,
} from '../../../src/tenants/templates/long-integers.ts';

const again = (text: string, field?: string) => JSON.stringify(parseKeepingIntegers(text, rawNumber, field));

describe('Integers beyond 2^53 in JSON', () => {
  it('keep their digits when they are written again', () => {
    for (const text of [
      '12345678901234567890',
      '[9007199254740993,-9007199254740993,9007199254740991,1]',
      '{"a":{"b":[{"c":12345678901234567890}]},"d":12345678901234567890}',
      `[${'9'.repeat(5000)}]`,
      '{"__proto__":12345678901234567890,"a":{"__proto__":{"b":12345678901234567890}}}',
    ])
      assert.equal(again(text), text);
    assert.equal(again('{ "a" : 12345678901234567890 }'), '{"a":12345678901234567890}');
  });

  it('are not looked for in texts, decimals and exponents', () => {
    for (const text of [
      '["12345678901234567890","a \\"12345678901234567890","\\\\",1]',
      '{"12345678901234567890":"12345678901234567890\\\\"}',
    ])
      assert.equal(again(text), text);
    const numbers = '[12345678901234567890.5,1234567890123456789e5,0.1234567890123456789]';
    assert.equal(again(numbers), JSON.stringify(JSON.parse(numbers)));
  });

  it('become numbers outside of the field that keeps them', () => {
    const text = '{"options":{"scale":12345678901234567890},"items":[{"data":{"a":[12345678901234567890]}}]}';
    const parsed = parseKeepingIntegers(text, rawNumber, 'data') as {
      options: { scale: unknown };
      items: { data: { a: unknown[] } }[];
    };
    assert.equal(parsed.options.scale, 12345678901234567000);
    assert.ok(isRawNumber(parsed.items[0]!.data.a[0]));
    assert.equal(parsed.items[0]!.data.a[0].rawJSON, '12345678901234567890');
    assert.equal(Object.getPrototypeOf(parsed.options), Object.prototype);
  });

  it('stay errors of syntax where the text is no JSON', () => {
    for (const text of [
      '{"a":12345678901234567890',
      '[12345678901234567890,]',
      '12345678901234567890x',
      '"1234567890123456',
    ])
      assert.throws(
        () => parseKeepingIntegers(text, rawNumber),
        (error: Error) => {
          assert.ok(error instanceof SyntaxError);
          assert.throws(() => JSON.parse(text), { message: error.message });
          return true;
        },
      );
    assert.throws(() => parseKeepingIntegers('[01234567890123456789]', rawNumber), SyntaxError);
  });

  it('are found at any depth, since the caller chooses the nesting', () => {
    const depth = 5000;
    const text = `${'['.repeat(depth)}12345678901234567890${']'.repeat(depth)}`;
    let value = parseKeepingIntegers(text, rawNumber);
    for (let level = 0; level < depth; level += 1) value = (value as unknown[])[0];
    assert.ok(isRawNumber(value));
  });
});
